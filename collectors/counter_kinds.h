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

// Whether a counter set of queue pairs counts this, or only lists it as 0 (mlx5_ib_counter_update_stats asks Q counters alone; of the
// optional ones a set has its own from 6.15).
bool counts_in_sets(std::string_view driver, std::string_view counter);

// `extended`: the card has the 64-bit counters of bytes and packets.
CounterKind port_counter_kind(std::string_view counter, bool extended);

}  // namespace qpscope
