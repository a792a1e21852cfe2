// SPDX-License-Identifier: Apache-2.0
// Whether queue pairs of a port count in sets of their own (rdma statistic qp …, core/counters.c). Two things follow for the port's
// totals: while a set is released they are too high for a moment, and each name that is read asks the firmware for each set.
#pragma once

#include <cstddef>
#include <optional>

#include "collectors/host/device_netlink.h"
#include "core/back_off.h"
#include "core/collector.h"

namespace qpscope {

// Of one port. Not thread-safe.
class SetCost {
 public:
  // Before each pass over the port's counters. No firmware; while there may be sets that the device's book does not know of, one query a
  // set every 15 s.
  void look(Reading& out, DeviceNetlink& netlink, PortNum port);

  // A rise may be a set that is counted twice: they are in use, or were 10 s ago.
  bool settles() const { return settles_; }
  // What reading so many names of the port costs for the sets alone, in firmware commands. An estimate: sets come and go between two
  // counts of them.
  std::size_t commands(std::size_t names) const { return sets_ * names; }

 private:
  bool settles_ = false;
  std::size_t sets_ = 0;
  std::optional<BootTime> in_use_, counted_;  // last
  BackOff back_off_;
};

}  // namespace qpscope
