// SPDX-License-Identifier: Apache-2.0
// When to try again what failed: after 1, 2, 4 … 64 s. Some drivers write a line into the kernel's log for each read that they
// refuse; a monitor must not fill it. Pure, not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/ids.h"

namespace qpscope {

class BackOff {
 public:
  bool due(BootTime now) const { return failures_ == 0 || now >= due_; }
  void succeeded() { failures_ = 0; }
  void failed(BootTime now) {
    constexpr unsigned kMostDoublings = 6;
    // A tenth less, so that a clock that ticks every second does not miss its turn by a moment.
    constexpr std::uint64_t kFirst = 900'000'000;
    due_.value = now.value + (kFirst << std::min(failures_, kMostDoublings));
    failures_++;
  }

 private:
  unsigned failures_ = 0;  // in a row
  BootTime due_;
};

}  // namespace qpscope
