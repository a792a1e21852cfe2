// SPDX-License-Identifier: Apache-2.0
#include "clock.h"

#include <ctime>

namespace qpscope {
namespace {

std::uint64_t nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

BootTime boot_now() { return {nanoseconds(CLOCK_BOOTTIME)}; }

double wall_minus_boot() {
  return static_cast<double>(static_cast<std::int64_t>(nanoseconds(CLOCK_REALTIME) - nanoseconds(CLOCK_BOOTTIME))) / 1e9;
}

}  // namespace qpscope
