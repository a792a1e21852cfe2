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

struct SelfView {
  std::size_t devices_found = 0;
  std::optional<std::size_t> devices_expected;  // nullopt: nobody can tell
  std::vector<std::pair<std::string, DeviceSampler::State>> samplers;  // by device
  std::vector<ProbeStatus> probes;
  EventLosses losses;
  std::map<std::string, std::uint64_t> events;
  std::uint64_t tenant_overflows = 0;
  std::optional<bool> state_saved;  // nullopt: no state is kept
  double wall_minus_boot = 0;
};

SampleList self_samples(const SelfView& view);
MetricList self_metrics();

}  // namespace qpscope
