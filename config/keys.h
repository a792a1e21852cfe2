// SPDX-License-Identifier: Apache-2.0
// The one list of configuration keys: walked by the loader, the printer and the tests. A new key is one line here, one member
// in config.h and one in default.yaml.
#pragma once

#include "config/config.h"

namespace qpscope {

// V has section(name, body), number(key, value, least, most), duration(key, seconds, least, most), flag(key, value),
// text(key, value), choice(key, value, {allowed…}), texts(key, list), pattern(key, value) and patterns(key, list) for regular
// expressions, and items(key, list, body) for a list of sections: body(v, item) visits the keys of one.
template <class V>
void visit_keys(V& v, Config& c) {
  constexpr double kDay = 86400;
  v.section("devices", [&] {
    v.texts("include", c.devices.include);
    v.texts("exclude", c.devices.exclude);
    v.number("expected", c.devices.expected, 0, 4096);
  });
  v.section("sampling", [&] {
    v.duration("interval", c.sampling.interval, 0.1, kDay);
    v.duration("slow_interval", c.sampling.slow_interval, 0.1, kDay);
    v.duration("stale_after", c.sampling.stale_after, 1, kDay);
  });
  v.section("counters", [&] {
    v.choice("qp_mode", c.counters.qp_mode, {"leave", "tenant"});
    v.number("max_sets", c.counters.max_sets, 2, 255);
    v.number("qp_focus", c.counters.qp_focus, 0, 16);
    v.duration("focus_time", c.counters.focus_time, 1, 3600);
    v.duration("slow_command", c.counters.slow_command, 0.001, 60);
  });
  v.section("budget", [&] { v.number("firmware_commands_per_second", c.budget.firmware_commands_per_second, 0, 1'000'000); });
  v.section("reconcile", [&] {
    v.duration("interval", c.reconcile.interval, 1, kDay);
    v.number("polls_per_second", c.reconcile.polls_per_second, 0, 10000);
  });
  v.section("tenants", [&] {
    v.number("limit", c.tenants.limit, 1, 4096);
    v.items("rules", c.tenants.rules, [](V& one, TenantRule& rule) {
      one.text("tenant", rule.tenant);
      one.text("workload", rule.workload);
      one.pattern("cgroup", rule.cgroup);
      one.pattern("comm", rule.comm);
      one.pattern("user", rule.user);
      one.pattern("environment", rule.environment);
    });
    v.section("kubernetes", [&] { v.patterns("workload_patterns", c.tenants.kubernetes.workload_patterns); });
    v.flag("slurm_account_from_environment", c.tenants.slurm_account_from_environment);
  });
  v.section("exporters", [&] {
    v.section("prometheus", [&] {
      v.text("listen", c.exporters.prometheus.listen);
      v.number("qp_limit", c.exporters.prometheus.qp_limit, 0, 20000);
      v.number("series_limit", c.exporters.prometheus.series_limit, 0, 1'000'000);
    });
  });
  v.section("api", [&] {
    v.texts("allow", c.api.allow);
    v.texts("hosts", c.api.hosts);
  });
  v.section("bpf", [&] {
    v.flag("enabled", c.bpf.enabled);
    v.number("ring_kib", c.bpf.ring_kib, 64, 1U << 20);
    v.number("qp_table_limit", c.bpf.qp_table_limit, 16, 1U << 20);
    v.text("layouts", c.bpf.layouts);
  });
  v.section("recorder", [&] {
    v.flag("enabled", c.recorder.enabled);
    v.number("incidents", c.recorder.incidents, 1, 10000);
    v.number("incidents_mib", c.recorder.incidents_mib, 1, 65536);
    v.number("queue_pair_deaths", c.recorder.queue_pair_deaths, 0, 100000);
    v.duration("stall", c.recorder.stall, 0, kDay);
    v.duration("firmware_stall", c.recorder.firmware_stall, 0, kDay);
  });
  v.section("log", [&] { v.choice("level", c.log.level, {"debug", "info", "warning", "error"}); });
}

}  // namespace qpscope
