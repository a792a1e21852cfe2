// SPDX-License-Identifier: Apache-2.0
// qpscope, the command for people: words → the daemon's API → a table. The only place that knows the command line.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "client.h"
#include "core/text.h"
#include "qps.h"

namespace qpscope::cli {
namespace {

constexpr const char* kFooter =
    "\nExit codes: 0 done; 1 the daemon cannot do it; 2 bad usage; 3 no daemon runs here; 4 no permission.\n"
    "It asks the daemon of this host over its unix socket, which root may open.\n";

struct FocusOptions {
  std::string device;
  unsigned qpn = 0, seconds = 60;
};

struct Words {
  CLI::App app{"What qpscoped knows of the RDMA queue pairs of this host.", "qpscope"};
  std::string socket = "/run/qpscope/api.sock";
  QpsOptions qps;
  std::map<std::string, std::vector<std::string>> filters;  // of qps
  FocusOptions focus;
  CLI::App *qps_word = nullptr, *focus_word = nullptr;
};

void add_qps(Words& words) {
  words.qps_word = words.app.add_subcommand("qps", "List queue pairs: device, state, owner, peer");
  CLI::App& qps = *words.qps_word;
  qps.footer("\nFilters may be repeated: any of their values will do, and every filter has to be satisfied.\n"
             "  qpscope qps --device mlx5_0 --state RTS --state ERR\n");
  const auto filter = [&](const char* option, const char* parameter, const char* type, const char* help) {
    qps.add_option(option, words.filters[parameter], help)->type_name(type)->allow_extra_args(false)->group("Filters");
  };
  filter("--device", "device", "NAME", "Of this RDMA device");
  filter("--port", "port", "N", "Of this port");
  filter("--qpn", "qpn", "N", "With this number");
  filter("--type", "type", "TYPE", "RC, UC, UD, XRC_INI, ...");
  filter("--state", "state", "STATE", "RESET, INIT, RTR, RTS, SQD, SQE or ERR");
  filter("--tenant", "tenant", "NAME", "Of this tenant");
  filter("--workload", "workload", "NAME", "Of this workload");
  filter("--remote-gid", "remote_gid", "GID", "Connected to this GID");
  filter("--pid", "pid", "PID", "Made by this process");
  qps.add_option("--limit", words.qps.limit, "At most so many")->type_name("N")->check(CLI::Range(1, 10'000'000).description(""));
  qps.add_flag("--json", words.qps.json, "The daemon's answer instead of a table");
}

void add_focus(Words& words) {
  words.focus_word = words.app.add_subcommand("focus", "Watch one queue pair closely for a while");
  words.focus_word->add_option("DEVICE", words.focus.device, "Its RDMA device")->type_name("")->required();
  words.focus_word->add_option("QPN", words.focus.qpn, "Its number")->type_name("")->required()->check(CLI::Range(0U, 0xffffffU).description(""));
  const std::map<std::string, unsigned> units{{"s", 1}, {"m", 60}, {"h", 3600}};
  words.focus_word->add_option("--for", words.focus.seconds, "How long: 60s (the default), 5m, up to 1h")
      ->transform(CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::UNIT_OPTIONAL))
      ->check(CLI::Range(1U, 3600U).description(""))
      ->type_name("TIME");
}

Outcome<std::string> run(Words& words) {
  Client client(words.socket);
  if (*words.qps_word) {
    for (const auto& [parameter, values] : words.filters) {
      for (const std::string& value : values) words.qps.filters.emplace_back(parameter, value);
    }
    return queue_pairs(client, words.qps);
  }
  const auto answer = client.post("/api/v1/focus", {{"device", words.focus.device}, {"qpn", words.focus.qpn}, {"seconds", words.focus.seconds}});
  if (!answer) return std::unexpected(answer.error());
  const Json& data = answer->at("data");
  return (data.is_object() && data.contains("message") && data["message"].is_string() ? safe_message(data["message"].get<std::string>()) : "done") + "\n";
}

int qpscope(int argc, char** argv) {
  Words words;
  words.app.footer(kFooter);
  words.app.set_version_flag("--version", "qpscope " QPSCOPE_VERSION);
  words.app.add_option("--socket", words.socket, "The daemon's socket")->type_name("PATH")->capture_default_str();
  words.app.require_subcommand(1);
  add_qps(words);
  add_focus(words);
  try {
    words.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return words.app.exit(error) == 0 ? kDone : kUsage;  // prints help, version or what was wrong
  }
  const auto text = run(words);
  if (!text) {
    std::fprintf(stderr, "qpscope: %s\n", safe_message(text.error().message).c_str());
    return text.error().exit;
  }
  const bool written = std::fwrite(text->data(), 1, text->size(), stdout) == text->size() && std::fflush(stdout) == 0;
  return written ? kDone : kRefused;
}

}  // namespace
}  // namespace qpscope::cli

int main(int argc, char** argv) { return qpscope::cli::qpscope(argc, argv); }
