// SPDX-License-Identifier: Apache-2.0
// The RDMA devices of this host and their samplers. Main thread only, but for focus_on().
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "budgets.h"
#include "collectors/host/host.h"
#include "config/config.h"
#include "core/event_history.h"
#include "core/snapshot.h"
#include "core/state_image.h"
#include "sampler.h"

namespace qpscope {

// Whether the configuration wants this device: what it does not want is not asked, by any means.
bool watched(const DevicesConfig& config, const std::string& device);

class Devices {
 public:
  Devices(const Host& host, const Config& config, Budgets& budgets, EventHistory& history)
      : host_(host), config_(config), budgets_(budgets), history_(history) {}

  // The totals of an earlier run, before the first scan.
  void take_over(std::vector<DeviceLedger> ledgers) { absent_ = std::move(ledgers); }

  enum class Start : bool { no, yes };
  // Follows the devices that come and go: one readdir, which never asks hardware. Start::no makes samplers without threads.
  void scan(Start start);
  // The slow collectors of this device, if it is watched, run at once: what a port is has changed.
  void look_again(const std::string& device);
  // One full pass of every device on the calling thread; after scan(Start::no).
  void pass();
  // Asks all threads to end. Names of devices whose thread is stuck in the kernel after `wait_seconds`.
  // Those that give counter sets back get longer.
  std::vector<std::string> stop(double wait_seconds, double give_back_seconds);

  // Adds every sample that is not stale to the snapshot.
  void fill(Snapshot& snapshot) const;
  std::vector<std::pair<std::string, DeviceSampler::State>> states() const;
  // The totals of every device, and of those that are not there and may come back. At least as new as what fill() gave before.
  std::vector<DeviceLedger> ledgers() const;
  // These are in the state file now.
  void saved(const std::vector<DeviceLedger>& ledgers);
  // DeviceSampler::focus_on, of the device by this name. Any thread.
  Result<> focus_on(const std::string& device, Qpn qpn, double seconds) const;
  std::size_t size() const { return samplers_.size(); }
  // How many devices there should be; nullopt where the configuration does not say and there is no PCI bus to tell. Counted anew on the
  // slow clock.
  std::optional<std::size_t> expected() const { return expected_; }
  // Every collector of every device has ended a pass, well or not.
  bool sampled() const;

 private:
  DeviceSampler* find(const std::string& device) const;  // null: not watched
  void add(const std::string& name, const std::vector<std::string>& present, Start start);
  void expect(const std::vector<std::string>& names);
  void tell(HistoryKind kind, const std::string& device, const char* what);
  void retire(std::unique_ptr<DeviceSampler> sampler);

  const Host& host_;
  const Config& config_;
  Budgets& budgets_;
  EventHistory& history_;
  mutable std::mutex mutex_;  // around changes of samplers_, and what another thread does with them
  std::vector<std::unique_ptr<DeviceSampler>> samplers_;
  std::vector<std::unique_ptr<DeviceSampler>> retired_;  // of devices that went away; their threads may be stuck
  std::vector<DeviceLedger> absent_;                     // totals of devices that are not there, the oldest first
  bool absence_logged_ = false;
  bool unlisted_ = false;                                // the last scan failed
  std::optional<std::size_t> expected_;
  BootTime expected_due_;
};

}  // namespace qpscope
