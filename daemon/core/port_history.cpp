// SPDX-License-Identifier: Apache-2.0
#include "core/port_history.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace qpscope {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint64_t kMostBetween = 30;  // steps between two readings: more is no sampling

struct Family {
  std::string_view metric, name;
};
constexpr std::array<Family, 7> kMetrics{{
    {"qpscope_port_rx_bytes_total", "rx_bytes"},
    {"qpscope_port_tx_bytes_total", "tx_bytes"},
    {"qpscope_port_retransmits_total", "retransmits"},
    {"qpscope_port_rx_cnp_packets_total", "rx_cnp_packets"},
    {"qpscope_port_rx_ecn_marked_packets_total", "rx_ecn_marked_packets"},
    {"qpscope_port_rx_pfc_pause_seconds_total", "rx_pause_seconds"},  // one family of ours
    {"qpscope_port_rx_pause_seconds_total", "rx_pause_seconds"},
}};

std::uint8_t family_of(std::string_view metric) {
  const auto found = std::ranges::find(kMetrics, metric, &Family::metric);
  if (found == kMetrics.end()) return SamplePlaces::kNone;
  return static_cast<std::uint8_t>(std::ranges::find(kMetrics, found->name, &Family::name) - kMetrics.begin());
}

}  // namespace

PortHistory::PortHistory() : places_(family_of) {}

void PortHistory::take(std::span<const SharedSamples> lists, BootTime at) {
  const auto step = static_cast<std::uint64_t>(static_cast<double>(at.value) / 1e9 / kStepSeconds) + 1;  // 0: never
  const std::lock_guard lock(mutex_);
  if (step <= step_) return;
  step_ = step;
  if (first_ == 0) first_ = step;
  touched_.clear();
  left_out_ = 0;
  auto last = ports_.end();
  places_.each_new(lists, [&](std::uint8_t family, const Sample& one) {
    const double* value = std::get_if<double>(&one.value);
    Port* port = value ? find(one, last) : nullptr;
    if (!port) return;
    Series& series = port->series[family];
    if (series.parts_now++ == 0) touched_.push_back(&series);
    series.sum += *value;
  });
  for (Series* series : touched_) close(*series);
  if (step % kSteps == 0) drop_old();
}

// Null: there is no room. `last`: what was found before, which is mostly the same.
PortHistory::Port* PortHistory::find(const Sample& one, Ports::iterator& last) {
  const KeyView key{one.labels[0], one.labels[1]};
  if (last != ports_.end() && KeyView(last->first) == key) return &last->second;
  auto port = ports_.find(key);
  if (port == ports_.end()) {
    if (ports_.size() == kMostPorts) return ++left_out_, nullptr;
    port = ports_.emplace(Key(key.first, key.second), Port{}).first;
  }
  port->second.step = step_;
  last = port;
  return &port->second;
}

// What was gathered of a series in this step becomes the rate of the steps since it was read last.
void PortHistory::close(Series& series) const {
  const double sum = std::exchange(series.sum, 0);
  const std::uint32_t parts = std::exchange(series.parts_now, 0);
  const std::uint64_t between = step_ - series.step;
  // A part that is missing now, or came, is no rate.
  const bool known = series.step > 0 && parts == series.parts && sum >= series.total && between <= kMostBetween;
  const float rate = known ? static_cast<float>((sum - series.total) / (static_cast<double>(between) * kStepSeconds)) : kNone;
  if (series.ring.empty()) series.ring.assign(kSteps, kNone);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(between, kSteps); ++i) series.ring[(step_ - i) % kSteps] = rate;
  series.step = step_;
  series.total = sum;
  series.parts = parts;
}

void PortHistory::drop_old() {
  std::erase_if(ports_, [&](const auto& entry) { return step_ - entry.second.step >= kSteps; });
}

std::vector<PortHistory::Rates> PortHistory::of(std::string_view device, std::string_view port) const {
  const std::lock_guard lock(mutex_);
  std::vector<Rates> out;
  const auto found = ports_.find(KeyView(device, port));
  if (found == ports_.end()) return out;
  const std::uint64_t length = std::min<std::uint64_t>(kSteps, step_ - first_ + 1);
  for (std::size_t family = 0; family < kFamilies; ++family) {
    const Series& series = found->second.series[family];
    if (series.step == 0 || step_ - series.step >= kSteps) continue;
    Rates& rates = out.emplace_back(kMetrics[family].name);
    for (std::uint64_t step = step_ - length + 1; step <= step_; ++step) rates.rates.push_back(step <= series.step ? series.ring[step % kSteps] : kNone);
  }
  return out;
}

std::size_t PortHistory::left_out() const {
  const std::lock_guard lock(mutex_);
  return left_out_;
}

}  // namespace qpscope
