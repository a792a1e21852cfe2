// SPDX-License-Identifier: Apache-2.0
// Ourselves for the API (core/status.h): from what self.h sees, and what that means for who looks at a page. Main thread.
#pragma once

#include "collectors/host/sysroot.h"
#include "core/status.h"
#include "self.h"

namespace qpscope {

struct StatusFacts {
  std::string version, host, kernel;
  BootTime started;
};
// Of the machine whose root it is; what cannot be read is empty.
StatusFacts status_facts(const Sysroot& root, BootTime started);

struct StatusNow {
  BootTime at;
  bool live = false;  // else there is neither netlink nor BPF
  bool events_on = false;
  double stale_after = 0;  // seconds, as configured
  std::size_t left_out = 0;  // of the history: PortHistory::left_out
};
Status status_of(const StatusFacts& facts, const SelfView& self, const StatusNow& now);

}  // namespace qpscope
