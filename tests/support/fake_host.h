// SPDX-License-Identifier: Apache-2.0
// A folder that stands for a host with RDMA devices, and what the samplers made of it.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "sampler.h"
#include "support/fake_clock.h"
#include "unit/collectors/host/temp_tree.h"

namespace qpscope::test {

inline const std::string kDevice = "sys/class/infiniband/mlx5_0";

inline void add_device(const TempTree& tree, const std::string& device = kDevice) {
  tree.file(device + "/node_guid", "0c42:a103:0000:0001\n");
  tree.file(device + "/ports/1/state", "4: ACTIVE\n");
  tree.file(device + "/ports/1/phys_state", "5: LinkUp\n");
  tree.file(device + "/ports/1/counters/port_xmit_data", "100\n");
  tree.file(device + "/ports/1/hw_counters/out_of_sequence", "7\n");
}

struct Site {
  TempTree tree;
  Sysroot root = Sysroot::open(tree.path()).value();
  Host host{.root = root};
  FakeClock clock;
  Budgets budgets{host, 0};
};

inline const DeviceSampler::Output& output(const DeviceSampler::State& state, std::string_view collector) {
  const auto it = std::ranges::find(state.outputs, collector, &DeviceSampler::Output::collector);
  if (it == state.outputs.end()) throw std::runtime_error("no such collector");
  return *it;
}
inline std::optional<double> value(const DeviceSampler::State& state, std::string_view collector, std::string_view family) {
  const auto& samples = output(state, collector).samples;
  if (!samples) return std::nullopt;
  const auto it = std::ranges::find_if(*samples, [&](const Sample& one) { return one.def->name == family; });
  return it == samples->end() ? std::nullopt : std::optional(std::get<double>(it->value));
}

// Waits for a condition that another thread makes true; never longer than the test's patience.
template <class Condition>
bool becomes_true(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::yield();
  }
  return false;
}

}  // namespace qpscope::test
