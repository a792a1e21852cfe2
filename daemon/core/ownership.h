// SPDX-License-Identifier: Apache-2.0
// Was a physical port one tenant's own? What samplers ask before they credit a port's counters to a tenant.
#pragma once

#include <string>

#include "core/ids.h"
#include "core/port_owners.h"

namespace qpscope {

class Ownership {
 public:
  struct Verdict {
    PortVerdict::Is is = PortVerdict::Is::unknown;
    std::string tenant, workload;  // of `sole`; raw, as in core/tenant.h
    friend bool operator==(const Verdict&, const Verdict&) = default;
  };
  virtual ~Ownership() = default;
  // Of every queue pair that lived on any function of the physical port, DEVX's included, between the two times, both included. `pending` is the
  // usual answer about the last second or two: ask again about the same time. An interval of minutes is unknown sooner or later. Any thread;
  // waits for nothing but mutexes.
  virtual Verdict sole_owner(const std::string& device, PortNum port, BootTime from, BootTime to) = 0;
};

}  // namespace qpscope
