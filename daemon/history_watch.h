// SPDX-License-Identifier: Apache-2.0
// Sees in what is published what changed since it was published before, and tells the history (core/event_history.h): states of ports, probes.
// Main thread.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bpf/probe_set.h"
#include "core/event_history.h"
#include "core/sample_places.h"
#include "core/snapshot.h"
#include "kernel_events.h"

namespace qpscope {

class HistoryWatch {
 public:
  static constexpr std::size_t kMostPorts = 2048;

  explicit HistoryWatch(EventHistory& history);

  // `news`: ports that the kernel said came up or went down since the last look. What is sampled right after may be older.
  void look(const Snapshot& snapshot, const std::vector<ProbeStatus>& probes, const std::vector<KernelEvents::PortNews>& news = {});

 private:
  struct Port {
    unsigned state = 0;
    BootTime seen;
    BootTime told;  // by the kernel; 0: never
  };
  void hear(const KernelEvents::PortNews& news);
  void look_at_port(const Sample& state, BootTime now);
  void look_at_probes(const std::vector<ProbeStatus>& probes, BootTime now);

  EventHistory& history_;
  SamplePlaces places_;
  std::map<std::pair<std::string, std::string>, Port> ports_;  // also of devices that are away: they come back in a state
  std::vector<std::pair<std::string, bool>> attached_;         // probes
};

}  // namespace qpscope
