// SPDX-License-Identifier: Apache-2.0
// CLOCK_BOOTTIME as a number that the test moves.
#pragma once

#include <cstdint>

#include "core/clock.h"

namespace qpscope::test {

inline constexpr std::uint64_t kSecond = 1'000'000'000;

class FakeClock {
 public:
  BootTime now() const { return now_; }
  void pass(double seconds) { now_.value += static_cast<std::uint64_t>(seconds * 1e9); }
  // Every reading is a nanosecond later than the one before: no two moments are the same.
  ClockFn fn() {
    return [this] { return BootTime{++now_.value}; };
  }

 private:
  BootTime now_{1000 * kSecond};
};

}  // namespace qpscope::test
