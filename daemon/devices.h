// SPDX-License-Identifier: Apache-2.0
// The RDMA devices of this host and their samplers. Main thread only.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectors/host/host.h"
#include "config/config.h"
#include "core/snapshot.h"
#include "sampler.h"

namespace qpscope {

class Devices {
 public:
  Devices(const Host& host, const Config& config) : host_(host), config_(config) {}

  enum class Start : bool { no, yes };
  // Follows the devices that come and go: one readdir, which never asks hardware. Start::no makes samplers without threads.
  void scan(Start start);
  // One full pass of every device on the calling thread; after scan(Start::no).
  void pass();
  // Asks all threads to end. Names of devices whose thread is stuck in the kernel after `wait_seconds`.
  std::vector<std::string> stop(double wait_seconds);

  // Adds every sample that is not stale to the snapshot.
  void fill(Snapshot& snapshot) const;
  std::vector<std::pair<std::string, DeviceSampler::State>> states() const;
  std::size_t size() const { return samplers_.size(); }
  // Every collector of every device has ended a pass, well or not.
  bool sampled() const;

 private:
  const Host& host_;
  const Config& config_;
  std::vector<std::unique_ptr<DeviceSampler>> samplers_;
  std::vector<std::unique_ptr<DeviceSampler>> retired_;  // of devices that went away; their threads may be stuck
  bool absence_logged_ = false;
};

}  // namespace qpscope
