// SPDX-License-Identifier: Apache-2.0
// Ourselves: what works, what was lost, what we cost.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bpf/probe_set.h"
#include "core/event.h"
#include "core/metric.h"
#include "sampler.h"

namespace qpscope {

struct ProcessCost {
  double cpu_seconds = 0;                       // user and system
  std::optional<std::uint64_t> resident_bytes;  // empty: /proc cannot be read
};
ProcessCost process_cost();

struct SelfView {
  std::size_t devices_found = 0;
  std::optional<std::size_t> devices_expected;  // nullopt: nobody can tell
  std::vector<std::pair<std::string, DeviceSampler::State>> samplers;  // by device
  std::vector<ProbeStatus> probes;
  std::optional<double> probes_back_seconds;  // they are off by request
  EventLosses losses;
  std::map<std::string, std::uint64_t> events;
  std::uint64_t tenant_overflows = 0;
  std::uint64_t totals_forgotten = 0;
  std::uint64_t suspicions_dropped = 0;
  std::vector<std::pair<std::string, std::shared_ptr<CommandBudget>>> budgets;  // by device
  std::map<std::string, std::uint64_t> others_commands = {};  // firmware commands of others, by device, where they are seen
  std::optional<bool> state_saved;  // nullopt: no state is kept
  double wall_minus_boot = 0;
  ProcessCost process;
};

// The counters among them count from the daemon's start: App makes them go on (core/carried_totals.h).
SampleList self_samples(const SelfView& view);
// What is not to be carried over a restart: totals of the devices' ledgers, which go on by themselves, and the process's, which
// Prometheus expects to be of this run.
SampleList lasting_samples(const SelfView& view);
MetricList self_metrics();

}  // namespace qpscope
