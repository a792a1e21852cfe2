// SPDX-License-Identifier: Apache-2.0
// The clock as a value that is passed in: core never asks the system for the time.
#pragma once

#include <functional>

#include "core/ids.h"

namespace qpscope {

using ClockFn = std::function<BootTime()>;  // CLOCK_BOOTTIME; daemon/clock.cpp has the real one, tests their own

}  // namespace qpscope
