// SPDX-License-Identifier: Apache-2.0
#include "core/qp_endings.h"

#include <algorithm>
#include <array>

namespace qpscope {
namespace {

constexpr double kMinute = 60;

// One in ERR has told its end before.
bool connected(const QpRecord& qp) {
  return qp.state && !is_special(qp.type) && (*qp.state == QpState::rtr || *qp.state == QpState::rts || *qp.state == QpState::sqd || *qp.state == QpState::sqe);
}

}  // namespace

std::string_view to_string(QpEnding::How how) {
  constexpr std::array<std::string_view, 3> names{"destroyed", "moved_to_error", "found_in_error"};
  return names.at(static_cast<std::size_t>(how));
}

void QpEndings::add(QpEnding::How how, const QpRecord& qp, BootTime at) {
  if (!connected(qp)) return;
  const std::lock_guard lock(mutex_);
  Minute& minute = minutes_[qp.tenant];  // as many as there are tenants, which are bounded
  if (minute.count == 0 || seconds(at, minute.began) >= kMinute) minute = {.began = at};
  if (++minute.count > kMostMinute) {
    ++left_out_;
    return;
  }
  endings_.push_back({.number = ++newest_, .at = at, .how = how, .qp = qp});
  if (endings_.size() > kMost) endings_.pop_front();
}

QpEndings::Selection QpEndings::since(std::uint64_t after) const {
  const std::lock_guard lock(mutex_);
  const auto first = std::ranges::upper_bound(endings_, after, {}, &QpEnding::number);
  return {.endings = {first, endings_.end()}, .newest = newest_, .left_out = left_out_};
}

}  // namespace qpscope
