// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup_map.h"

namespace qpscope {

void CgroupMap::apply(const CgroupChanged& event) {
  const std::lock_guard lock(mutex_);
  if (event.what == CgroupChanged::What::removed) {
    if (const auto it = paths_.find(event.id); it != paths_.end()) removed_.push_back({event.id, it->second.order, event.at});
  } else {
    put(event.id, event.path);
  }
  forget(event.at);
}

void CgroupMap::seed(CgroupId id, std::string path) {
  const std::lock_guard lock(mutex_);
  if (!paths_.contains(id)) put(id, std::move(path));
}

std::optional<std::string> CgroupMap::path(CgroupId id) const {
  const std::lock_guard lock(mutex_);
  const auto it = paths_.find(id);
  if (it == paths_.end()) return std::nullopt;
  return it->second.path;
}

std::size_t CgroupMap::size() const {
  const std::lock_guard lock(mutex_);
  return paths_.size();
}

void CgroupMap::put(CgroupId id, std::string path) {
  const std::uint64_t order = next_order_++;
  paths_.insert_or_assign(id, Entry{std::move(path), order});
  age_.emplace_back(id, order);
  if (age_.size() > 2 * limit_) {  // mostly of entries that are gone or have a newer name
    std::erase_if(age_, [&](const auto& entry) {
      const auto it = paths_.find(entry.first);
      return it == paths_.end() || it->second.order != entry.second;
    });
  }
  while (paths_.size() > limit_) {
    const auto [old, old_order] = removed_.empty() ? age_.front() : std::pair(removed_.front().id, removed_.front().order);
    if (removed_.empty()) {
      age_.pop_front();
    } else {
      removed_.pop_front();
    }
    const auto it = paths_.find(old);
    if (it != paths_.end() && it->second.order == old_order) paths_.erase(it);
  }
}

void CgroupMap::forget(BootTime now) {
  while (!removed_.empty() && seconds(now, removed_.front().at) > keep_seconds_) {
    const auto it = paths_.find(removed_.front().id);
    if (it != paths_.end() && it->second.order == removed_.front().order) paths_.erase(it);
    removed_.pop_front();
  }
}

}  // namespace qpscope
