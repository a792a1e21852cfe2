// SPDX-License-Identifier: Apache-2.0
#include "self.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <string_view>

#include "version.h"

namespace qpscope {
namespace {

constexpr MetricType kCounter = MetricType::counter, kGauge = MetricType::gauge;
constexpr LabelNames kCollector{"collector", "device"};
constexpr MetricDef kBuild{"qpscope_build_info", kGauge, "The running qpscoped (build).", LabelNames{"version"}};
constexpr MetricDef kDevices{"qpscope_devices_found", kGauge, "RDMA devices on this host (sysfs class/infiniband).", {}};
constexpr MetricDef kExpected{"qpscope_devices_expected", kGauge,
                              "RDMA devices that this host should have: devices.expected, else those found and the PCI functions that lack one though they are InfiniBand "
                              "controllers, like a function that has one, or ConnectX-4 or later without a driver (sysfs bus/pci/devices).", {}};
constexpr MetricDef kSuccess{"qpscope_collector_success", kGauge, "Whether the collector's last pass over the device succeeded; that of hw_counters does not where none can be read.", kCollector};
constexpr MetricDef kDuration{"qpscope_collector_duration_seconds", kGauge, "How long that pass took.", kCollector};
constexpr MetricDef kLast{"qpscope_collector_last_success_timestamp_seconds", kGauge, "Unix time of the last pass that succeeded; it stays when the samples go stale.",
                          kCollector};
constexpr MetricDef kReadErrors{"qpscope_read_errors_total", kCounter, "Values that could not be read, and so are not on this page.",
                                LabelNames{"device", "source", "error"}};
constexpr MetricDef kOffByRequest{"qpscope_probes_off_by_request", kGauge, "Whether the BPF programs are off because somebody asked for it (qpscope probes off). 1: yes; they come back by themselves.", LabelNames{}};
constexpr MetricDef kProbe{"qpscope_probe_attached", kGauge, "Whether a BPF program is attached, and how; off: see qpscoped --check.", LabelNames{"probe", "how"}};
constexpr MetricDef kEvents{"qpscope_bpf_events_total", kCounter, "Events received from the BPF programs.", LabelNames{"kind"}};
constexpr MetricDef kLost{"qpscope_bpf_events_lost_total", kCounter, "Events lost between kernel and table: then netlink has to tell.", LabelNames{"reason"}};
constexpr MetricDef kOverflows{"qpscope_tenants_overflow_total", kCounter, "Queue pair owners that became other/other at tenants.limit.", {}};
constexpr MetricDef kForgotten{"qpscope_series_forgotten_total", kCounter,
                               "Series of our own whose totals are not kept over a restart, as there are too many (carried totals).", {}};
constexpr MetricDef kSuspicionsDropped{"qpscope_suspicions_dropped_total", kCounter,
                                       "Completion errors that grew on a device of which too many wait for their queue pairs to be asked about (suspicions).", {}};
constexpr LabelNames kPort{"device", "port"};
constexpr MetricDef kResets{"qpscope_counters_resets_total", kCounter,
                            "Kernel counters that started again: totals go on without what came between the last sample and the reset; port is empty for the "
                            "device's own (counter ledger).", kPort};
constexpr MetricDef kGaps{"qpscope_counters_gaps_total", kCounter,
                          "Kernel counters of 32 bits that moved while unseen for so long that a wrap may be missing from their totals; port is empty for the "
                          "device's own (counter ledger).", kPort};
constexpr MetricDef kInterval{"qpscope_sampling_interval_seconds", kGauge,
                              "Time between two fast samples of the device, of what is sampled least: sampling.interval, or longer to stay within budget.firmware_commands_per_second.", LabelNames{"device"}};
constexpr MetricDef kRest{"qpscope_collector_interval_seconds", kGauge,
                          "Time between two passes of a collector that takes it slower than its clock, since what it reads is slow and keeps others waiting; there is none while all "
                          "is well.", LabelNames{"collector", "device"}};
constexpr MetricDef kCommands{"qpscope_firmware_commands_total", kCounter,
                              "Firmware commands that qpscope caused, where the driver asks the firmware: counted by what it asked (self); on mlx5 also those that anybody else waited for (others; BPF mlx5_cmd_do).", LabelNames{"device", "by"}};
constexpr MetricDef kThrottled{"qpscope_budget_throttled_total", kCounter, "Questions to devices that were put off by budget.firmware_commands_per_second.", {}};
constexpr MetricDef kSaved{"qpscope_state_saved", kGauge, "Whether a restart goes on from the totals on this page, whatever counts them (/run/qpscope/state).", {}};
constexpr MetricDef kCpu{"process_cpu_seconds_total", kCounter, "User and system CPU time of qpscoped (getrusage).", {}};
constexpr MetricDef kMemory{"process_resident_memory_bytes", kGauge, "Resident memory of qpscoped (/proc/self/statm).", {}};
constexpr std::array<const MetricDef*, 23> kMetrics{&kBuild, &kDevices, &kExpected, &kSuccess, &kDuration, &kLast, &kReadErrors, &kProbe, &kOffByRequest, &kEvents,
                                                    &kLost, &kOverflows, &kForgotten, &kSuspicionsDropped, &kInterval, &kRest, &kCommands, &kThrottled, &kResets, &kGaps, &kSaved, &kCpu, &kMemory};

void add_process(SampleList& out, const ProcessCost& cost) {
  out.push_back(sample(kCpu, {}, cost.cpu_seconds));
  if (cost.resident_bytes) out.push_back(sample(kMemory, {}, static_cast<double>(*cost.resident_bytes)));
}

void add_sampler(SampleList& out, const std::string& device, const DeviceSampler::State& state, const SelfView& view) {
  double slowest = 0;  // of those on the fast clock
  for (const DeviceSampler::Output& output : state.outputs) slowest = output.clock == Clock::fast ? std::max(slowest, output.interval) : slowest;
  out.push_back(sample(kInterval, {device}, slowest));
  for (const DeviceSampler::Output& output : state.outputs) {
    if (!output.tried) continue;
    const Labels labels{output.collector, device};
    out.push_back(sample(kSuccess, labels, output.success ? 1 : 0));
    out.push_back(sample(kDuration, labels, output.duration));
    if (output.rest > 0 && output.rest >= output.interval) out.push_back(sample(kRest, labels, output.interval));
    if (output.last_success.value) out.push_back(sample(kLast, labels, static_cast<double>(output.last_success.value) / 1e9 + view.wall_minus_boot));
  }
  out.insert(out.end(), state.sets.begin(), state.sets.end());
  for (const auto& [key, count] : state.errors) out.push_back(sample(kReadErrors, {device, key.source, key.error}, static_cast<double>(count)));
}

}  // namespace

MetricList self_metrics() { return kMetrics; }

ProcessCost process_cost() {
  ProcessCost out;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto as_seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  out.cpu_seconds = as_seconds(usage.ru_utime) + as_seconds(usage.ru_stime);
  if (std::FILE* statm = std::fopen("/proc/self/statm", "re")) {
    unsigned long size = 0, resident = 0;
    if (std::fscanf(statm, "%lu %lu", &size, &resident) == 2) out.resident_bytes = resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    std::fclose(statm);
  }
  return out;
}

SampleList self_samples(const SelfView& view) {
  SampleList out;
  out.push_back(sample(kBuild, {std::string(kVersion)}, 1));
  out.push_back(sample(kDevices, {}, static_cast<double>(view.devices_found)));
  if (view.devices_expected) out.push_back(sample(kExpected, {}, static_cast<double>(*view.devices_expected)));
  for (const auto& [device, state] : view.samplers) add_sampler(out, device, state, view);
  if (!view.probes.empty()) out.push_back(sample(kOffByRequest, {}, view.probes_back_seconds ? 1 : 0));
  for (const ProbeStatus& probe : view.probes) out.push_back(sample(kProbe, {probe.probe, probe.how}, probe.attached ? 1 : 0));
  for (const auto& [kind, count] : view.events) out.push_back(sample(kEvents, {kind}, static_cast<double>(count)));
  const EventLosses& lost = view.losses;
  for (const auto& [reason, count] : {std::pair("ring_full", lost.ring_full), std::pair("recursion", lost.recursion),
                                      std::pair("kretprobe_missed", lost.kretprobe_missed), std::pair("decode", lost.decode)}) {
    out.push_back(sample(kLost, {reason}, static_cast<double>(count)));
  }
  out.push_back(sample(kOverflows, {}, static_cast<double>(view.tenant_overflows)));
  std::uint64_t throttled = 0;
  std::set<std::string_view> present;
  for (const auto& [device, state] : view.samplers) present.insert(device);
  for (const auto& [device, budget] : view.budgets) {
    if (present.contains(device)) out.push_back(sample(kCommands, {device, "self"}, static_cast<double>(budget->spent())));
    throttled += budget->throttled();
  }
  for (const auto& [device, count] : view.others_commands) out.push_back(sample(kCommands, {device, "others"}, static_cast<double>(count)));
  out.push_back(sample(kThrottled, {}, static_cast<double>(throttled)));
  out.push_back(sample(kForgotten, {}, static_cast<double>(view.totals_forgotten)));
  out.push_back(sample(kSuspicionsDropped, {}, static_cast<double>(view.suspicions_dropped)));
  return out;
}

SampleList lasting_samples(const SelfView& view) {
  SampleList out;
  for (const auto& [device, state] : view.samplers) {
    if (!state.ledger.image) continue;
    for (const auto& [port, faults] : state.ledger.image->ports) {
      out.push_back(sample(kResets, {device, port}, static_cast<double>(faults.resets)));
      out.push_back(sample(kGaps, {device, port}, static_cast<double>(faults.gaps)));
    }
  }
  if (view.state_saved) out.push_back(sample(kSaved, {}, *view.state_saved ? 1 : 0));
  add_process(out, view.process);
  return out;
}

}  // namespace qpscope
