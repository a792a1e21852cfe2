// SPDX-License-Identifier: Apache-2.0
// The configuration, one plain struct per section. Defaults live here and nowhere else; config/default.yaml repeats them for
// people, and a test holds the two equal. Durations are seconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace qpscope {

struct DevicesConfig {
  std::vector<std::string> include{"*"};  // shell patterns over device names: those that are watched,
  std::vector<std::string> exclude;       // but for these. Nothing below the folder of another device is ever opened
  std::uint64_t expected = 0;             // how many there should be; 0: as the PCI bus says
  bool operator==(const DevicesConfig&) const = default;
};

struct SamplingConfig {
  double interval = 1;        // fast clock: port state, hardware counters, bytes
  double slow_interval = 15;  // slow clock: the rest of counters/, facts
  double stale_after = 30;    // a device not read for so long loses its samples
  bool operator==(const SamplingConfig&) const = default;
};

struct CountersConfig {
  std::string qp_mode = "leave";  // leave: read the counter sets there are; tenant: make one for each tenant and workload
  std::uint64_t max_sets = 32;    // of ours, a port
  std::uint64_t qp_focus = 0;     // queue pairs at most that are given sets of their own by themselves
  double focus_time = 60;         // for how long
  double slow_command = 0.05;     // sets are given back when firmware commands take so long
  bool operator==(const CountersConfig&) const = default;
};

struct BudgetConfig {
  std::uint64_t firmware_commands_per_second = 100;  // per device, all that we ask of it; 0: no limit
  bool operator==(const BudgetConfig&) const = default;
};

struct ReconcileConfig {
  double interval = 600;                // at most one full netlink dump per device in so long
  std::uint64_t polls_per_second = 20;  // single QP queries per device: how QPs moved to ERR by hardware are found
  bool operator==(const ReconcileConfig&) const = default;
};

// All expressions that are given must be found somewhere in their text (RE2's syntax).
struct TenantRule {
  std::string tenant;       // \1 to \9 here and in workload: groups of `cgroup`
  std::string workload;     // empty: what the sources say
  std::string cgroup;       // over the cgroup path
  std::string comm;
  std::string user;         // over the name, or else the number
  std::string environment;  // over each NAME=value
  bool operator==(const TenantRule&) const = default;
};

struct KubernetesConfig {
  std::vector<std::string> workload_patterns;  // over a pod's whole name; the first group is the workload
  bool operator==(const KubernetesConfig&) const = default;
};

struct TenantsConfig {
  std::uint64_t limit = 256;  // (tenant, workload) pairs; what comes later is other/other
  std::vector<TenantRule> rules;  // before every source
  KubernetesConfig kubernetes;
  bool slurm_account_from_environment = false;  // believe SLURM_JOB_ACCOUNT, which a job can change
  bool operator==(const TenantsConfig&) const = default;
};

struct PrometheusConfig {
  std::string listen = ":9879";
  std::uint64_t qp_limit = 100;  // queue pairs with series of their own on /metrics
  std::uint64_t series_limit = 5000;  // on /metrics: beyond it queue pairs' own and raw counters are left out; 0: no limit
  bool operator==(const PrometheusConfig&) const = default;
};

struct ExportersConfig {
  PrometheusConfig prometheus;
  bool operator==(const ExportersConfig&) const = default;
};

struct ApiConfig {
  std::vector<std::string> allow{"127.0.0.0/8", "::1/128"};  // peers that may read /metrics/qps and /api/v1
  std::vector<std::string> hosts;  // names of this machine in their Host header, beside its own, localhost and every address
  bool operator==(const ApiConfig&) const = default;
};

struct BpfConfig {
  bool enabled = true;
  std::uint64_t ring_kib = 8192;       // a power of two
  std::uint64_t qp_table_limit = 65536;  // queue pairs kept
  std::string layouts = "/etc/qpscope/layouts";  // a folder of BUILD-ID.layout, for drivers of a vendor
  bool operator==(const BpfConfig&) const = default;
};

// The flight recorder and what it keeps in /var/lib/qpscope/incidents.
struct RecorderConfig {
  bool enabled = true;
  std::uint64_t incidents = 50;          // files at most
  std::uint64_t incidents_mib = 64;      // all of them together
  std::uint64_t queue_pair_deaths = 2;   // on a port within 10 s; 0: never
  double stall = 30;                     // a workload without the traffic that it had; 0: never
  double firmware_stall = 10;            // a device that does not answer; 0: never
  bool operator==(const RecorderConfig&) const = default;
};

struct LogConfig {
  std::string level = "info";  // debug, info, warning, error
  bool operator==(const LogConfig&) const = default;
};

struct Config {
  DevicesConfig devices;
  SamplingConfig sampling;
  CountersConfig counters;
  BudgetConfig budget;
  ReconcileConfig reconcile;
  TenantsConfig tenants;
  ExportersConfig exporters;
  ApiConfig api;
  BpfConfig bpf;
  RecorderConfig recorder;
  LogConfig log;
  bool operator==(const Config&) const = default;
};

}  // namespace qpscope
