// SPDX-License-Identifier: Apache-2.0
// One of our threads at a time asks what the kernel answers under the lock of all netdevs (rtnl): ethtool, DCB, phys_port_name. Several at
// once would keep everybody else from it for longer, and where one netdev's driver hangs with the lock held the others would hang behind it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "core/error.h"

namespace qpscope {

// Thread-safe.
class RtnlGate {
 public:
  static constexpr std::chrono::milliseconds kPatience{1000};

  // The right to ask; given back with its end.
  class Pass {
   public:
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_) gate_->leave();
    }

   private:
    friend class RtnlGate;
    explicit Pass(RtnlGate& gate) : gate_(&gate) {}
    RtnlGate* gate_;
  };

  // Waits for kPatience at most, and not at all while whoever is inside has been there for longer than that: EBUSY, with its name.
  Result<Pass> enter(const std::string& netdev);

 private:
  using Clock = std::chrono::steady_clock;
  void leave();

  std::mutex mutex_;
  std::condition_variable left_;
  bool inside_ = false;
  std::string netdev_;        // of whoever is inside
  Clock::time_point since_;
};

// The process's.
RtnlGate& rtnl_gate();

}  // namespace qpscope
