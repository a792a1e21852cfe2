// SPDX-License-Identifier: Apache-2.0
// Cgroup id → path, kept by the cgroup tracepoints and one walk of cgroupfs at start. A removed cgroup is remembered for a
// while: a QP's event may be read after its job's cgroup has gone. Bounded; the oldest removed go first, then the oldest.
// Thread-safe: the event thread looks up while the start's walk fills in.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/event.h"

namespace qpscope {

class CgroupMap {
 public:
  CgroupMap(std::size_t limit, double keep_seconds) : limit_(limit), keep_seconds_(keep_seconds) {}

  void apply(const CgroupChanged& event);
  // From the walk: what an event said meanwhile wins.
  void seed(CgroupId id, std::string path);
  std::optional<std::string> path(CgroupId id) const;
  std::size_t size() const;

 private:
  struct Entry {
    std::string path;
    std::uint64_t order;
  };
  void forget(BootTime now);
  void put(CgroupId id, std::string path);

  const std::size_t limit_;
  const double keep_seconds_;
  mutable std::mutex mutex_;
  std::unordered_map<CgroupId, Entry> paths_;
  struct Removed {
    CgroupId id;
    std::uint64_t order;  // of the entry it speaks of; ids are reused rarely, but they are
    BootTime at;
  };
  std::deque<Removed> removed_;
  std::deque<std::pair<CgroupId, std::uint64_t>> age_;
  std::uint64_t next_order_ = 0;
};

}  // namespace qpscope
