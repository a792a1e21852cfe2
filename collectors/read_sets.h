// SPDX-License-Identifier: Apache-2.0
// One reading of a port's counter sets into the device's book. Whoever reads them does it by this.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "collectors/host/host.h"
#include "core/clock.h"
#include "core/counter_ledger.h"

namespace qpscope {

struct SetReading {
  std::size_t commands = 0;      // of the firmware: one a set
  std::optional<Error> trouble;  // not every set was read
};
// Asks nothing where the mode is NONE and no set is known. An error where the mode cannot be told: no statistics of ports, or a device
// that is going away; the book is as it was.
Result<SetReading> read_sets(const Host& host, const std::string& device, DeviceNetlink& netlink, PortNum port, CounterLedger& ledger, const ClockFn& now);

}  // namespace qpscope
