// SPDX-License-Identifier: Apache-2.0
// The real clocks. core/clock.h is the seam; only daemon/ asks the system for the time.
#pragma once

#include "core/clock.h"

namespace qpscope {

BootTime boot_now();
// Unix seconds minus CLOCK_BOOTTIME seconds at this moment: turns a stamp into wall time where it is printed.
double wall_minus_boot();

}  // namespace qpscope
