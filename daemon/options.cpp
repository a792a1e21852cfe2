// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "version.h"

namespace qpscope {
namespace {

constexpr const char* kAbout =
    "qpscoped watches the RDMA devices of this host: ports, queue pairs, who owns them and to whom they talk.\n"
    "It serves Prometheus text on port 9879 and changes nothing on the host; it keeps a state file and a socket in /run/qpscope.\n";
constexpr const char* kModes = "Instead of running, one of";
constexpr const char* kFooter =
    "\nExit codes: 0 done; 1 --check found something degraded; 2 cannot run.\n"
    "Without --config, /etc/qpscope/qpscope.yaml is read if it is there.\n";

}  // namespace

std::expected<Options, int> parse_options(int argc, char** argv) {
  Options options;
  bool once = false, check = false, print_config = false, print_metrics = false;
  std::string config;
  CLI::App app(kAbout, "qpscoped");
  app.footer(kFooter);
  app.set_version_flag("--version", "qpscoped " + std::string(kVersion));
  auto* config_flag = app.add_option("--config", config, "Configuration file (YAML)")->type_name("FILE");
  app.add_option("--root", options.root, "Read DIR/sys, DIR/proc, ... instead of this machine's; BPF and netlink are off")->type_name("DIR");
  auto* once_flag = app.add_flag("--once", once, "Print one full sample as Prometheus text and exit; no BPF");
  auto* samples = app.add_option("--samples", options.samples, "With --once: take N samples and print the last")->type_name("N")->needs(once_flag)->check(CLI::Range(1, 1000000));
  auto* interval = app.add_option("--interval", options.interval, "With --once: seconds between samples")->type_name("T")->needs(once_flag)->check(CLI::Range(0.0, 86400.0))->check([](const std::string& text) {
    return text.find_first_of("nN") == std::string::npos ? std::string() : "not a number";  // no range holds a NaN back
  });
  auto* check_flag = app.add_flag("--check", check, "Load configuration, roots and every probe, print a table and exit");
  auto* owner_flag = app.add_option("--owner", options.owner, "Print how the process would be attributed, as JSON")->type_name("PID")->check(CLI::Range(1U, 4194304U));
  auto* print_config_flag = app.add_flag("--print-config", print_config, "Print the configuration in force, defaults included");
  auto* print_metrics_flag = app.add_flag("--print-metrics", print_metrics, "Print the reference of all metrics (Markdown)");
  const std::initializer_list<CLI::Option*> modes{once_flag, check_flag, owner_flag, print_config_flag, print_metrics_flag};
  for (CLI::Option* one : {samples, interval}) one->group(kModes);
  for (CLI::Option* one : modes) one->group(kModes);
  try {
    app.parse(argc, argv);
    if (std::ranges::count_if(modes, [](const CLI::Option* one) { return one->count() > 0; }) > 1) {
      throw CLI::ValidationError("choose one of --once, --check, --owner, --print-config and --print-metrics");
    }
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);  // prints help, version or what was wrong
    return std::unexpected(code == 0 ? 0 : 2);
  }
  if (*config_flag) options.config = config;
  if (once) options.mode = Options::Mode::once;
  if (check) options.mode = Options::Mode::check;
  if (*owner_flag) options.mode = Options::Mode::owner;
  if (print_config) options.mode = Options::Mode::print_config;
  if (print_metrics) options.mode = Options::Mode::print_metrics;
  return options;
}

}  // namespace qpscope
