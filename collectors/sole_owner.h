// SPDX-License-Identifier: Apache-2.0
// Credits a port's counters to the one tenant that owned every queue pair of the port while they moved (method sole_owner).
//
// What came between two readings is credited only once it is known who had queue pairs from before the first to after the second; until
// then the later reading is kept as it is. What sets count is not credited here as well.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "collectors/host/host.h"
#include "core/collector.h"

namespace qpscope {

// Of one device and one folder of counters. Not thread-safe.
class SoleOwner {
 public:
  SoleOwner(const Host& host, std::string device, std::string_view source) : host_(host), device_(std::move(device)), source_(source) {}

  // After a pass over the port's counters, which began at `began`. `lags`: what the ledger shows is that of the pass before.
  void follow(Reading& out, std::string_view driver, const std::string& port, BootTime began, bool lags);

 private:
  struct Passed {
    BootTime began, ended;
    std::map<PortCounter, std::uint64_t> totals;
  };
  struct Port {
    BootTime decided;          // began: the reading up to which all is decided
    Passed candidate;          // the next one to decide about; began 0: none
    BootTime before;           // when the pass before the last began
    bool sets = false;         // in the last pass
  };
  void decide(Reading& out, const std::string& port, Port& state, const Ownership::Verdict& verdict) const;

  const Host& host_;
  const std::string device_;
  const std::string source_;
  std::map<std::string, Port> ports_;
};

}  // namespace qpscope
