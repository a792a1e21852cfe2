// SPDX-License-Identifier: Apache-2.0
#include "words.h"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "complete.h"
#include "events.h"
#include "focus.h"
#include "incident_files.h"
#include "incidents.h"
#include "ports.h"
#include "probes.h"
#include "qps.h"
#include "status.h"
#include "tenants.h"
#include "top.h"

namespace qpscope::cli {
namespace {

constexpr const char* kFooter =
    "\nExit codes: 0 done; 1 the daemon cannot do it; 2 bad usage; 3 no daemon runs here; 4 no permission;\n"
    "            5 something is wrong (status --check).\n"
    "It asks the daemon of this host over its unix socket, which root may open.\n"
    "Colours are for terminals, and not where NO_COLOR is set.\n";
constexpr const char* kFilterFooter = "\nFilters may be repeated: any of their values will do, and every filter has to be satisfied.\n";
constexpr const char* kDefaultSocket = "/run/qpscope/api.sock";

const std::map<std::string, double> kTimeUnits{{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};

class Words {
 public:
  Words() {
    app.footer(kFooter);
    app.set_version_flag("--version", "qpscope " QPSCOPE_VERSION);
    app.add_option("--socket", command.socket, "The daemon's socket")->type_name("PATH")->capture_default_str();
    app.require_subcommand(1);
    app.fallthrough();
    add_status();
    add_ports();
    add_tenants();
    add_qps();
    add_events();
    add_top();
    add_probes();
    add_focus();
    add_record();
    add_incidents();
  }

  CLI::App app{"What qpscoped knows of the RDMA devices of this host: ports, queue pairs, tenants.", "qpscope"};
  Command command{.socket = kDefaultSocket, .run = {}};
  Values values;

 private:
  // `options` live as long as the command: what a subcommand parses into, and then runs with.
  template <class Options, class Run>
  CLI::App& add(const char* name, const char* about, const std::shared_ptr<Options>& options, Run run) {
    CLI::App& word = *app.add_subcommand(name, about);
    word.callback([this, options, run] { command.run = [options, run](Session& session) { return run(session, *options); }; });
    return word;
  }
  template <class Options>
  void add_json(CLI::App& word, Options& options, const char* help = "The daemon's answer instead of a table") {
    word.add_flag("--json", options.json, help);
  }
  CLI::Option* add_repeated(CLI::App& word, const char* option, std::vector<std::string>& into, const char* type, const char* help) {
    return word.add_option(option, into, help)->type_name(type)->allow_extra_args(false)->group("Filters");
  }
  // A parameter of the request.
  CLI::Option* add_filter(CLI::App& word, ListOptions& options, const char* option, const char* parameter, const char* type, const char* help) {
    const auto into = [&options, parameter](const std::vector<std::string>& given) {
      for (const std::string& value : given) options.filters.emplace_back(parameter, value);
    };
    return word.add_option_function<std::vector<std::string>>(option, into, help)->type_name(type)->allow_extra_args(false)->group("Filters");
  }
  void add_device(CLI::App& word, ListOptions& options) { values[add_filter(word, options, "--device", "device", "NAME", "Of this RDMA device")] = {.from = Names::devices}; }

  void add_status();
  void add_ports();
  void add_tenants();
  void add_qps();
  void add_events();
  void add_top();
  void add_probes();
  void add_focus();
  void add_record();
  void add_incidents();
};

void Words::add_status() {
  const auto options = std::make_shared<StatusOptions>();
  CLI::App& word = add("status", "Is something wrong here, and what?", options, status);
  word.add_flag("--check", options->check, "Exit with 5 where something is wrong");
  add_json(word, *options, "The daemon's answer instead of the words");
  word.footer("\nWrong is: what keeps qpscoped from seeing everything; queue pairs in ERR or SQE; a port that is used and not ACTIVE;\n"
              "over the last minute more than a retransmit a second, or more than a tenth of the time paused.\n");
}

void Words::add_ports() {
  const auto options = std::make_shared<ListOptions>();
  CLI::App& word = add("ports", "List ports: state, traffic, retransmits, pause", options, ports);
  add_device(word, *options);
  add_filter(word, *options, "--port", "port", "N", "With this number");
  add_json(word, *options);
  word.footer("\nRates are of the last ten seconds, other numbers totals. Columns for which there is no room are left out.\n");
}

void Words::add_tenants() {
  const auto options = std::make_shared<ListOptions>();
  CLI::App& word = add("tenants", "List tenants: queue pairs, traffic, errors", options, tenants);
  add_json(word, *options);
}

void Words::add_qps() {
  const auto options = std::make_shared<ListOptions>();
  CLI::App& word = add("qps", "List queue pairs: device, state, owner, peer", options, qps);
  word.footer(std::string(kFilterFooter) + "  qpscope qps --device mlx5_0 --state RTS --state ERR\n");
  const auto filter = [&](const char* option, const char* parameter, const char* type, const char* help) { return add_filter(word, *options, option, parameter, type, help); };
  add_device(word, *options);
  filter("--port", "port", "N", "Of this port");
  filter("--qpn", "qpn", "N", "With this number");
  values[filter("--type", "type", "TYPE", "RC, UC, UD, XRC_INI, ...")] = {{"RC", "UC", "UD", "XRC_INI", "XRC_TGT", "RAW_PACKET", "DRIVER", "GSI", "SMI"}};
  values[filter("--state", "state", "STATE", "RESET, INIT, RTR, RTS, SQD, SQE or ERR")] = {{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"}};
  values[filter("--tenant", "tenant", "NAME", "Of this tenant")] = {.from = Names::tenants};
  values[filter("--workload", "workload", "NAME", "Of this workload")] = {.from = Names::workloads};
  filter("--remote-gid", "remote_gid", "GID", "Connected to this GID");
  filter("--pid", "pid", "PID", "Made by this process");
  word.add_option("--limit", options->limit, "At most so many")->type_name("N")->check(CLI::Range(1, 10'000'000).description(""));
  add_json(word, *options);
}

void Words::add_events() {
  const auto options = std::make_shared<EventOptions>();
  CLI::App& word = add("events", "List what happened: queue pairs that failed, ports that went down, ...", options, events);
  word.footer(kFilterFooter);
  values[add_filter(word, *options, "--kind", "kind", "KIND", "queue_pair_error, port_state, device_added, ...")] = {.from = Names::kinds};
  add_device(word, *options);
  values[add_repeated(word, "--tenant", options->tenants, "NAME", "Of this tenant")] = {.from = Names::tenants};
  values[add_repeated(word, "--workload", options->workloads, "NAME", "Of this workload")] = {.from = Names::workloads};
  const std::vector<std::string> severities{"info", "warning", "error"};
  CLI::Option* const severity = word.add_option("--severity", options->severity, "That and worse: info, warning or error")->group("Filters");
  values[severity->check(CLI::IsMember(severities).description(""))->type_name("SEVERITY")] = {severities};
  word.add_option("--since", options->since, "Not older than: 90s, 10m, 2h, 1d")
      ->transform(CLI::AsNumberWithUnit(kTimeUnits, CLI::AsNumberWithUnit::UNIT_OPTIONAL))->check(CLI::Range(1.0, 1e9).description(""))->type_name("TIME")->group("Filters");
  word.add_option("--limit", options->limit, "The newest N")->type_name("N")->check(CLI::Range(1, 1'000'000).description(""));
  word.add_flag("--follow,-f", options->follow, "Go on with what comes, until Ctrl-C");
  add_json(word, *options, "The daemon's answer instead of a table; with --follow an event a line");
}

void Words::add_top() {
  const auto options = std::make_shared<TopOptions>();
  CLI::App& word = add("top", "Watch ports, tenants or queue pairs live", options, top);
  const std::vector<std::string> views(kTopViews.begin(), kTopViews.end());
  const std::map<std::string, TopView> by_name{{kTopViews[0], TopView::ports}, {kTopViews[1], TopView::tenants}, {kTopViews[2], TopView::qps}};
  values[word.add_option("--view", options->view, "ports (the default), tenants or qps")->transform(CLI::CheckedTransformer(by_name).description(""))->type_name("VIEW")] = {views};
  std::vector<std::string> columns;
  for (const TopView view : {TopView::ports, TopView::tenants, TopView::qps}) {
    for (std::string& name : TopModel::sort_names(view)) {
      if (std::ranges::find(columns, name) == columns.end()) columns.push_back(std::move(name));
    }
  }
  values[word.add_option("--sort", options->sort, "By this column: retrans, rx, cq-errors, state, ...")->type_name("COLUMN")] = {std::move(columns)};
  word.add_option("--interval", options->interval, "Between two looks: 2s (the default), 0.5s, 1m")
      ->transform(CLI::AsNumberWithUnit(kTimeUnits, CLI::AsNumberWithUnit::UNIT_OPTIONAL))->check(CLI::Range(0.5, 3600.0).description(""))->type_name("TIME");
  add_json(word, *options, "The daemon's answer, once");
  word.footer("\nKeys: p t u or Tab view; < > column; e errors, x retransmits, b bandwidth; r reverse; space pause; h help; q quit.\n"
              "Without a terminal it prints once.\n");
}

void Words::add_probes() {
  const auto options = std::make_shared<ProbesOptions>();
  CLI::App& word = add("probes", "List BPF programs: attached or not, how, what they cost; take them off for a while", options, probes);
  const std::vector<std::string> actions{"off", "on"};
  values[word.add_option("ACTION", options->action, "off: take them off; on: attach them again")
             ->check(CLI::IsMember(actions).description(""))->type_name("")] = {actions};
  word.add_option("--for", options->seconds, "off: how long at most: 15m (the default), 90s, up to 1d")
      ->transform(CLI::AsNumberWithUnit(kTimeUnits, CLI::AsNumberWithUnit::UNIT_OPTIONAL))
      ->check(CLI::Range(1U, 86400U).description(""))
      ->type_name("TIME");
  add_json(word, *options);
  word.footer("\nTrampolines hold the modules that they are on, so that these cannot be unloaded. off returns when nothing is attached any more. The probes\n"
              "come back by themselves, and with a restart of qpscoped. To unload ib_core itself, stop qpscoped: its netlink sockets hold it too.\n");
}

void Words::add_focus() {
  const auto options = std::make_shared<FocusOptions>();
  CLI::App& word = add("focus", "Watch one queue pair closely for a while", options, focus);
  values[word.add_option("DEVICE", options->device, "Its RDMA device")->type_name("")->required()] = {.from = Names::devices};
  word.add_option("QPN", options->qpn, "Its number")->type_name("")->required()->check(CLI::Range(0U, 0xffffffU).description(""));
  word.add_option("--for", options->seconds, "How long: 60s (the default), 5m, up to 1h")
      ->transform(CLI::AsNumberWithUnit(kTimeUnits, CLI::AsNumberWithUnit::UNIT_OPTIONAL))
      ->check(CLI::Range(1U, 3600U).description(""))
      ->type_name("TIME");
  add_json(word, *options, "The daemon's answer instead of its message");
}

void Words::add_record() {
  const auto options = std::make_shared<RecordOptions>();
  CLI::App& word = add("record", "Keep the last 15 minutes of this host as an incident", options, record);
  word.add_option("--reason", options->reason, "Why, for whoever reads it")->type_name("TEXT");
  add_json(word, *options, "The daemon's answer instead of a message");
}

void Words::add_incidents() {
  const auto options = std::make_shared<IncidentsOptions>();
  options->folder = kIncidentFolder;
  CLI::App& word = add("incidents", "What the flight recorder kept: list, or show one", options, incidents);
  const std::vector<std::string> actions{"list", "show"};
  values[word.add_option("ACTION", options->action, "list (the default) or show")->type_name("")->check(CLI::IsMember(actions).description(""))] = {actions};
  word.add_option("INCIDENT", options->incident, "With show: its name, the beginning of one, or a file; the newest if none is given")->type_name("");
  word.add_option("--folder", options->folder, "Where the files are")->type_name("PATH")->capture_default_str();
  word.add_flag("--html", options->html, "With show: a page with charts, which needs nothing else");
  add_json(word, *options, "The heads, or with show the whole incident, as JSON");
  word.footer("\n  qpscope incidents show --html >incident.html\n");
}

}  // namespace

std::expected<Command, int> parse(int argc, const char* const* argv) {
  Words words;
  try {
    words.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return std::unexpected(words.app.exit(error) == 0 ? kDone : kUsage);  // prints help, version or what was wrong
  }
  return std::move(words.command);
}

std::vector<std::string> completions(std::span<const std::string> words) {
  const Words known;
  return complete(known.app, known.values, words, kDefaultSocket);
}

}  // namespace qpscope::cli
