// SPDX-License-Identifier: Apache-2.0
// Queue pairs that netlink found in ERR though no call had moved them there, in the log: a line each, with owner and peer, unless they
// come by the hundred. How many there were is a metric (QpTotals::found_in_err). Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/qp_record.h"
#include "core/tenant.h"

namespace qpscope {

struct DeadQp {
  std::string device;
  QpRecord before;                    // as it was known until then
  Tenant tenant;
  BootTime asked;                     // netlink, which said so
  bool calls_seen = true;             // false: without BPF a call may have moved it there
  std::optional<BootTime> suspected;  // when completion errors grew; empty: it was found without
};

// Safe text on one line.
std::string describe(const DeadQp& dead);

class DeadQps {
 public:
  static constexpr std::size_t kLinesPerMinute = 20;  // of a device

  DeadQps(ClockFn now, std::function<void(std::string_view)> warn) : now_(std::move(now)), warn_(std::move(warn)) {}

  void tell(const DeadQp& dead);
  // Call it every few seconds: a device's minute that is over is summed up if it had more than its lines.
  void sum_up();

 private:
  struct Minute {
    BootTime began;
    std::size_t lines = 0, more = 0;
  };
  const ClockFn now_;
  const std::function<void(std::string_view)> warn_;
  std::mutex mutex_;
  std::map<std::string, Minute> minutes_;  // by device; only while one runs
};

}  // namespace qpscope
