// SPDX-License-Identifier: Apache-2.0
// How wide each kernel counter is and what it does when it is full; which files among the counters are no counters at all.
// What has no row is a counter of 64 bits.
#pragma once

#include <string_view>

#include "core/counter_total.h"

namespace qpscope {

struct HwCounterKind {
  CounterKind kind;
  bool gauge = false;  // a level that rises and falls: shown as it is
};
HwCounterKind hw_counter_kind(std::string_view driver, std::string_view counter);

// `extended`: the card has the 64-bit counters of bytes and packets.
CounterKind port_counter_kind(std::string_view counter, bool extended);

}  // namespace qpscope
