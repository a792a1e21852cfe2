// SPDX-License-Identifier: Apache-2.0
// Which probes there are and in how many ways each can be had. Attach points are in the SEC() names of the programs.
#pragma once

#include <span>
#include <string_view>

namespace qpscope {

enum class Feature : unsigned char {
  qp,            // create, modify and destroy, all or none: a table that sees QPs come but not go would lie
  qp_failures,   // needs ib_core, but each probe is good by itself
  counter_sets,  // the same
  object_events,  // of queue pairs, CQs, SRQs and WQs; each is good by itself. Of ib_uverbs, though the one of queue pairs may attach to ib_core
  device_events,  // of ports and devices; of ib_core
  connections,    // of rdma_cm
  devx,          // create and destroy, both or none; of mlx5_ib
  commands,      // of mlx5_core
  cgroups,       // the core kernel only
};

// The module whose functions the probes of a feature attach to; "": the core kernel.
constexpr std::string_view module_of(Feature feature) {
  switch (feature) {
    case Feature::cgroups: return "";
    case Feature::devx: return "mlx5_ib";
    case Feature::object_events: return "ib_uverbs";
    case Feature::connections: return "rdma_cm";
    case Feature::commands: return "mlx5_core";
    default: return "ib_core";
  }
}

constexpr std::string_view to_string(Feature feature) {
  switch (feature) {
    case Feature::qp: return "qp";
    case Feature::qp_failures: return "qp_failures";
    case Feature::counter_sets: return "counter_sets";
    case Feature::devx: return "devx";
    case Feature::object_events: return "object_events";
    case Feature::device_events: return "device_events";
    case Feature::connections: return "connections";
    case Feature::commands: return "commands";
    case Feature::cgroups: break;
  }
  return "cgroups";
}

struct ProbeRow {
  std::string_view probe;
  Feature feature;
  // The best alternative first, each a list of programs parted by spaces, in the order of attaching: returns before
  // entries, so that no entry waits for a return that was not attached yet.
  std::span<const std::string_view> alternatives;
};

// In the order of attaching: QPs are seen to go before they are seen to come.
std::span<const ProbeRow> probe_table();

}  // namespace qpscope
