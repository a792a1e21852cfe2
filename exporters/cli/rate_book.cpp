// SPDX-License-Identifier: Apache-2.0
#include "rate_book.h"

namespace qpscope::cli {

void RateBook::begin(double unix_seconds) {
  if (unix_seconds < now_) readings_.clear();  // the clock was set back
  now_ = unix_seconds;
}

void RateBook::add(const std::string& key, double total) {
  auto& readings = readings_[key];
  if (!readings.empty() && total < readings.back().total) readings.clear();
  if (!readings.empty() && readings.back().time == now_) return;  // the same picture again
  readings.push_back({now_, total});
  while (readings.size() > 2 && readings[1].time <= now_ - kWindow) readings.pop_front();
}

void RateBook::end() {
  std::erase_if(readings_, [&](const auto& entry) { return entry.second.back().time != now_; });
}

std::optional<double> RateBook::rate(const std::string& key) const {
  const auto found = readings_.find(key);
  if (found == readings_.end() || found->second.size() < 2) return std::nullopt;
  const Reading &first = found->second.front(), &last = found->second.back();
  return (last.total - first.total) / (last.time - first.time);
}

}  // namespace qpscope::cli
