// SPDX-License-Identifier: Apache-2.0
// The queue pairs that were connected and are so no more, of late: what is left of a job when all its processes are gone. Bounded, and each tenant
// by itself within a minute, of which the first are kept: one that churns does not push out who else ended. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/qp_record.h"

namespace qpscope {

struct QpEnding {
  enum class How : std::uint8_t {
    destroyed,       // by a call, which the end of a process makes too
    moved_to_error,  // by a call: rdma_disconnect does so (core/cma.c), and who has had enough
    found_in_error,  // by no call: hardware gave up; netlink was asked
  };
  std::uint64_t number = 0;  // rising
  BootTime at;
  How how = How::destroyed;
  QpRecord qp;               // as it was until then
};
std::string_view to_string(QpEnding::How how);

class QpEndings {
 public:
  static constexpr std::size_t kMost = 4096;
  static constexpr std::size_t kMostMinute = 512;  // of a tenant

  // Each queue pair once: the first end counts. Not one that was never connected.
  void add(QpEnding::How how, const QpRecord& qp, BootTime at);

  struct Selection {
    std::vector<QpEnding> endings;  // by number
    std::uint64_t newest = 0, left_out = 0;  // left_out: since the start
  };
  Selection since(std::uint64_t after) const;

 private:
  struct Minute {
    BootTime began;
    std::size_t count = 0;
  };
  mutable std::mutex mutex_;  // guards what follows
  std::deque<QpEnding> endings_;
  std::map<TenantId, Minute> minutes_;
  std::uint64_t newest_ = 0, left_out_ = 0;
};

}  // namespace qpscope
