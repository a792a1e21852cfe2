// SPDX-License-Identifier: Apache-2.0
// A queue pair as JSON: every field that is known, those that are not left out. One of the doors out for untrusted strings. Pure.
#pragma once

#include <string>

#include "core/snapshot.h"

namespace qpscope {

// 64-bit numbers are strings, since JavaScript and others would round them; stamps are Unix seconds, CLOCK_BOOTTIME and `wall_minus_boot`.
std::string qp_json(const Snapshot& snapshot, const QpRecord& qp, double wall_minus_boot);

}  // namespace qpscope
