// SPDX-License-Identifier: Apache-2.0
// Arguments → configuration → App. The only place that knows exit codes.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdio>

#include "app.h"
#include "check.h"
#include "clock.h"
#include "collectors/host/proc.h"
#include "collectors/registry.h"
#include "collectors/tenants/pattern.h"
#include "collectors/tenants/registry.h"
#include "collectors/vocabulary/vocabulary.h"
#include "config/load.h"
#include "core/event_history.h"
#include "core/log.h"
#include "core/tenant_map.h"
#include "core/text.h"
#include "device_watch.h"
#include "exporters/metrics_doc.h"
#include "exporters/owner_json.h"
#include "exporters/pages.h"
#include "firmware_watch.h"
#include "incidents.h"
#include "kernel_events.h"
#include "log_setup.h"
#include "options.h"
#include "self.h"

namespace qpscope {
namespace {

constexpr int kDegraded = 1, kCannotRun = 2;
constexpr const char* kDefaultConfig = "/etc/qpscope/qpscope.yaml";

int cannot_run(const Error& error) {
  std::fprintf(stderr, "qpscoped: %s\n", safe_message(error.what).c_str());
  return kCannotRun;
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// The file that is asked for, or the usual one where there is one, or the defaults.
Result<std::pair<Config, std::string>> configuration(const Options& options) {
  struct stat info {};
  if (!options.config && (options.root != "/" || stat(kDefaultConfig, &info) != 0)) return std::pair(Config{}, std::string("defaults"));
  const std::string path = options.config.value_or(kDefaultConfig);
  auto config = load_config_file(path, [](const std::string& pattern) -> Result<> {
    const auto compiled = Pattern::compile(pattern);
    return compiled ? Result<>() : std::unexpected(compiled.error());
  });
  if (!config) return std::unexpected(std::move(config.error()));
  return std::pair(std::move(*config), path);
}

// A file is kept open for each counter: 16 ports of mlx5 have a thousand.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Before the first thread, so that every one inherits it: only App::run waits for these.
void block_signals() {
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

std::string metrics_reference() {
  std::vector<MetricList> rooms = collector_metrics();
  rooms.insert(rooms.end(), {qp_series_metrics(), series_limit_metrics(), page_metrics(), self_metrics(), device_watch_metrics(), event_history_metrics(), incident_metrics(), kernel_event_metrics(), counter_set_metrics(), firmware_metrics()});
  return metrics_markdown(std::move(rooms)) + vocabulary_markdown();
}

int print_owner(const Sysroot& root, const TenantsConfig& config, std::uint32_t pid) {
  const auto task = read_task(root, {pid});
  if (!task) return cannot_run(task.error());
  Owner owner = owner_of(*task);
  TenantMap tenants(make_resolvers(root, config, boot_now), 1);
  TenantMap::Named named = tenants.resolve(owner, boot_now());
  owner.k8s_pod = std::move(named.k8s_pod);
  owner.k8s_container = std::move(named.k8s_container);
  print(owner_json(owner, tenants.tenants()->at(named.id)));
  return 0;
}

int run(const Options& options) {
  if (options.mode == Options::Mode::print_metrics) return print(metrics_reference()), 0;
  auto loaded = configuration(options);
  if (!loaded) return cannot_run(loaded.error());
  auto& [config, source] = *loaded;
  if (options.mode == Options::Mode::print_config) return print(print_config(config)), 0;
  auto root = Sysroot::open(options.root);
  if (!root) return cannot_run(root.error());
  if (options.mode == Options::Mode::owner) return print_owner(*root, config.tenants, options.owner);

  raise_descriptor_limit();
  if (options.mode == Options::Mode::check) {
    const CheckReport report = check(config, {.root = *root, .live = root->live()}, source);
    print(report.table);
    return report.degraded ? kDegraded : 0;
  }
  log::setup(config.log.level);
  block_signals();
  App app(std::move(config), std::move(*root));
  if (options.mode == Options::Mode::once) return print(app.once(options.samples, options.interval)), 0;
  if (const auto done = app.run(); !done) return cannot_run(done.error());
  return 0;
}

}  // namespace
}  // namespace qpscope

int main(int argc, char** argv) {
  const auto options = qpscope::parse_options(argc, argv);
  return options ? qpscope::run(*options) : options.error();
}
