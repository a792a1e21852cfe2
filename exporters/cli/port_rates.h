// SPDX-License-Identifier: Apache-2.0
// What a port does now, from the history that the daemon keeps of it. Pure.
#pragma once

#include <optional>

#include "fields.h"

namespace qpscope::cli {

inline constexpr double kNow = 10, kLastMinute = 60;  // seconds

// The mean per second of the newest `seconds` of `port`'s history; `interval` lies between two of its values. Not known where none of them was sampled.
std::optional<double> recent_rate(const Json& port, const char* name, std::optional<double> interval, double seconds);

}  // namespace qpscope::cli
