// SPDX-License-Identifier: Apache-2.0
#include "core/flight_recorder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace qpscope {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint64_t kMostBetween = 60;  // seconds between two readings of the slow clock, and some; more is no sampling
constexpr std::uint64_t kMostMissed = 3;  // seconds between two looks that were to be one apart
constexpr std::uint64_t kTidySeconds = 60;

constexpr std::uint8_t as_number(FlightRecorder::Kind kind) { return static_cast<std::uint8_t>(kind); }

// Counters of ports, of tenants on them and of devices; not the raw ones by the kernel's name, nor what is the difference of two others.
std::uint8_t kind_of(std::string_view name) {
  using enum FlightRecorder::Kind;
  if (name == "qpscope_port_state") return as_number(state);
  if (name == "qpscope_queue_pairs") return as_number(count);
  if (!name.ends_with("_total")) return SamplePlaces::kNone;
  if (name == "qpscope_port_counters_total" || name == "qpscope_port_netdev_statistics_total" || name.starts_with("qpscope_port_unattributed_")) return SamplePlaces::kNone;
  if (name.starts_with("qpscope_port_") || name.starts_with("qpscope_device_pcie_")) return as_number(counter);
  for (const std::string_view prefix : {"qpscope_tenant_", "qpscope_async_events", "qpscope_mlx5_command_failures"}) {
    if (name.starts_with(prefix)) return as_number(own);
  }
  return SamplePlaces::kNone;
}

}  // namespace

FlightRecorder::FlightRecorder() : places_(kind_of) {}

void FlightRecorder::take(std::span<const SharedSamples> lists, BootTime at) {
  const std::uint64_t second = at.value / 1'000'000'000 + 1;  // 0: never
  if (second <= now_) return;
  before_ = std::exchange(now_, second);
  if (first_ == 0) first_ = second;
  left_out_ = 0;
  places_.each_new(lists, [&](std::uint8_t kind, const Sample& one) { take_one(static_cast<Kind>(kind), one); });
  if (second % kTidySeconds == 0) tidy();
}

void FlightRecorder::take_one(Kind kind, const Sample& one) {
  const double* value = std::get_if<double>(&one.value);
  if (!value) return;
  auto found = series_.find(KeyView{one.def, &one.labels});
  if (found == series_.end()) {
    if (series_.size() == kMostKnown) return void(++left_out_);
    const bool from_zero = kind == Kind::count || (kind == Kind::own && now_ > first_);
    // `since`: a counter's first reading tells nothing of the second in which it came.
    const std::uint64_t since = !from_zero ? now_ : kind == Kind::own ? first_ - 1 : first_;
    found = series_.emplace(Key{one.def, one.labels}, Known{.kind = kind, .value = from_zero ? 0 : *value, .since = since, .at = from_zero ? now_ - 1 : now_}).first;
  }
  Known& known = found->second;
  const std::uint64_t before = std::exchange(known.at, now_);
  const double last = std::exchange(known.value, *value);
  const std::uint64_t between = now_ - before;
  float put = static_cast<float>(*value);
  if (kind == Kind::counter || kind == Kind::own) {
    // Not read for long, or taken back: nothing is known of the time between.
    const bool gap = between > kMostBetween || *value < last;
    if (gap) known.since = now_ + 1;
    put = gap ? kNone : static_cast<float>((*value - last) / static_cast<double>(std::max<std::uint64_t>(between, 1)));
  }
  if (put != 0 && !std::isnan(put)) known.moved = now_;
  if (known.row == kNoRow && (known.moved != now_ || !give_row(known))) return;
  Row& row = rows_[known.row];
  // What a counter grew by is spread over the time. A number or a state stayed, if only the clock's second was missed; else a number was 0, and a state was not read.
  const bool missed = before == before_ && between <= kMostMissed;
  const float between_put = kind == Kind::counter || kind == Kind::own ? put : missed ? static_cast<float>(last) : kind == Kind::count ? 0 : kNone;
  for (std::uint64_t i = 1; i < std::min<std::uint64_t>(between, kSeconds); ++i) row[(now_ - i) % kSeconds] = between_put;
  row[now_ % kSeconds] = put;
}

// With zeros for the time in which it was read and did not move.
bool FlightRecorder::give_row(Known& known) {
  if (free_.empty()) {
    if (rows_.size() == kMostRows) {
      ++left_out_;
      return false;
    }
    free_.push_back(static_cast<std::uint32_t>(rows_.size()));
    rows_.emplace_back();
  }
  known.row = free_.back();
  free_.pop_back();
  Row& row = rows_[known.row];
  row.assign(kSeconds, kNone);
  if (known.kind == Kind::state) return true;
  const std::uint64_t from = std::max(known.since + (known.kind == Kind::count ? 0 : 1), now_ >= kSeconds ? now_ - kSeconds + 1 : 0);
  for (std::uint64_t second = from; second < now_; ++second) row[second % kSeconds] = 0;
  return true;
}

// Rows of what has not moved for the whole time, and what is not there any more.
void FlightRecorder::tidy() {
  for (auto& [key, known] : series_) {
    const bool still = known.kind != Kind::state && now_ - known.moved >= kSeconds;
    if (known.row == kNoRow || (!still && !gone(known))) continue;
    free_.push_back(std::exchange(known.row, kNoRow));
    known.since = std::max(known.since, now_ - kSeconds);
  }
  std::erase_if(series_, [&](const auto& one) { return gone(one.second); });
}

float FlightRecorder::value_at(const Known& known, std::uint64_t second) const {
  if (second <= known.at) return rows_[known.row][second % kSeconds];
  // Not read since: a count is 0 then; the rest may come yet, on the slow clock, and is not known until then.
  return known.kind == Kind::count ? 0 : kNone;
}

std::size_t FlightRecorder::seconds_held() const { return first_ == 0 ? 0 : std::min<std::uint64_t>(kSeconds, now_ - first_ + 1); }

FlightRecorder::Window FlightRecorder::window(std::size_t wanted) const {
  const std::uint64_t length = std::min(wanted, seconds_held());
  Window out{.began = {(now_ - length) * 1'000'000'000}, .ended = {now_ * 1'000'000'000}, .series = {}, .left_out = left_out_};
  for (const auto& [key, known] : series_) {
    if (known.row == kNoRow) continue;
    Series one{.def = key.def, .labels = key.labels, .values = {}};
    one.values.reserve(length);
    for (std::uint64_t second = now_ - length + 1; second <= now_; ++second) one.values.push_back(value_at(known, second));
    const bool moved = std::ranges::any_of(one.values, [](float value) { return !std::isnan(value) && value != 0; });
    if (moved) out.series.push_back(std::move(one));
  }
  return out;
}

}  // namespace qpscope
