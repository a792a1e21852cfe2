// SPDX-License-Identifier: Apache-2.0
// Remembers what files said, and for a shorter while that they said nothing. Bounded: when full, what is stale goes, or else
// everything; it is read again. Not thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "core/clock.h"

namespace qpscope {

struct TtlBounds {
  std::size_t entries = 4096;
  double ttl_seconds = 60;
  double negative_ttl_seconds = 5;
};

template <class Key, class Value>
class TtlCache {
 public:
  TtlCache(ClockFn now, TtlBounds bounds) : now_(std::move(now)), bounds_(bounds) {}

  // What `read(key)`, an optional<Value>, says now or said lately.
  template <class Read>
  std::optional<Value> get(const Key& key, Read read) {
    const BootTime now = now_();
    if (const auto it = entries_.find(key); it != entries_.end() && fresh(it->second, now)) return it->second.value;
    if (entries_.size() >= bounds_.entries) std::erase_if(entries_, [&](const auto& entry) { return !fresh(entry.second, now); });
    if (entries_.size() >= bounds_.entries) entries_.clear();
    return entries_.insert_or_assign(key, Entry{read(key), now}).first->second.value;
  }
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::optional<Value> value;
    BootTime read;
  };
  bool fresh(const Entry& entry, BootTime now) const {
    return seconds(now, entry.read) < (entry.value ? bounds_.ttl_seconds : bounds_.negative_ttl_seconds);
  }

  const ClockFn now_;
  const TtlBounds bounds_;
  std::map<Key, Entry> entries_;
};

}  // namespace qpscope
