// SPDX-License-Identifier: Apache-2.0
#include "core/suspicion.h"

#include <algorithm>

namespace qpscope {

void Suspicions::add(const std::string& device, const Suspect& whom, BootTime at) {
  const std::lock_guard lock(mutex_);
  auto found = devices_.find(device);
  if (found == devices_.end()) {
    if (devices_.size() >= kMostDevices) {
      ++dropped_;
      return;
    }
    found = devices_.try_emplace(device).first;
  }
  auto& suspects = found->second;
  suspects[whom] = std::max(suspects[whom], at);
  if (suspects.size() > kMostOfDevice) {
    BootTime last = at;
    for (const auto& [one, when] : suspects) last = std::max(last, when);
    suspects = {{Suspect{}, last}};
  }
}

std::vector<Suspicion> Suspicions::take(const std::string& device) {
  const std::lock_guard lock(mutex_);
  std::vector<Suspicion> out;
  if (const auto found = devices_.find(device); found != devices_.end()) {
    for (const auto& [whom, at] : found->second) out.push_back({whom, at});
    devices_.erase(found);
  }
  return out;
}

std::uint64_t Suspicions::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace qpscope
