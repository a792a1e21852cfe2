// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/rtnl_gate.h"

#include <algorithm>
#include <cerrno>

namespace qpscope {

Result<RtnlGate::Pass> RtnlGate::enter(const std::string& netdev) {
  std::unique_lock lock(mutex_);
  const auto began = Clock::now();
  while (inside_) {
    const auto until = std::min(began, since_) + kPatience;
    if (Clock::now() >= until) return std::unexpected(io_error(netdev + " is not asked while the kernel answers for " + netdev_, EBUSY));
    left_.wait_until(lock, until);
  }
  inside_ = true;
  netdev_ = netdev;
  since_ = Clock::now();
  return Pass(*this);
}

void RtnlGate::leave() {
  const std::lock_guard lock(mutex_);
  inside_ = false;
  left_.notify_one();
}

RtnlGate& rtnl_gate() {
  static RtnlGate gate;
  return gate;
}

}  // namespace qpscope
