// SPDX-License-Identifier: Apache-2.0
#include "core/counter_ledger.h"

#include <algorithm>
#include <utility>

namespace qpscope {
namespace {

constexpr double kSmallestPacket = 64;  // bytes
// The kernel may serve a value from its cache (hw_counters/lifespan, 10 ms by default): two samples can be further apart than
// the two reads.
constexpr double kCacheSeconds = 0.25;

}  // namespace

CounterLedger::CounterLedger(const LedgerImage& image) {
  for (const LedgerImage::Counter& one : image.counters) {
    if (entries_.size() == kMost) break;
    entries_.insert_or_assign(one.key, Entry{CounterTotal(one.state), one.at});
    faults_.try_emplace(one.key->port);
  }
  for (const auto& [port, faults] : image.ports) faults_.insert_or_assign(port, faults);
  observed_ = image.observed;
  histograms_ = image.histograms;
  tenants_ = TenantLedger(image.tenants);
  sets_ = SetBook(image.sets);
}

void CounterLedger::line_rate(const std::string& port, std::optional<double> bytes_per_second) {
  if (bytes_per_second) {
    line_rates_[port] = *bytes_per_second;
  } else {
    line_rates_.erase(port);
  }
}

std::optional<double> CounterLedger::line_rate(std::string_view port) const {
  const auto known = line_rates_.find(port);
  return known == line_rates_.end() ? std::nullopt : std::optional(known->second);
}

double CounterLedger::most_events(std::string_view port, BootTime from, BootTime to) const {
  const auto line = line_rate(port);
  const double rate = line ? std::min(kFastestNic, *line / kSmallestPacket) : kFastestNic;
  return rate * (std::max(0.0, seconds(to, from)) + kCacheSeconds);
}

std::optional<CounterLedger::Counted> CounterLedger::count(const CounterKeyView& key, std::uint64_t raw, CounterKind kind, BootTime now, bool settles) {
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    if (entries_.size() == kMost) return std::nullopt;
    auto own = std::make_shared<const CounterKey>(std::string(key.port), std::string(key.source), std::string(key.name));
    found = entries_.emplace(std::move(own), Entry{}).first;
    faults_.try_emplace(std::string(key.port));
  }
  Entry& entry = found->second;
  const CounterState before = entry.total.state();
  std::optional<std::uint64_t> counted;  // in sets, which are in use where totals have to settle
  if (settles && kind == kWraps32) counted = tenants_.credited(std::string(key.port), {std::string(key.source), std::string(key.name)});
  const CounterTotal::Step step = entry.total.sample(raw, kind, most_events(key.port, entry.at, now), settles, counted);
  const bool good = (step == CounterTotal::Step::first || step == CounterTotal::Step::added) && !settles && !saturated(raw, kind);
  const double elapsed = seconds(now, entry.at);
  std::optional<double> rate;
  if (good && entry.good && elapsed > 0) rate = static_cast<double>(entry.total.state().total - before.total) / elapsed;
  entry.good = good;
  if (step != CounterTotal::Step::waiting) entry.at = now;  // the time of `last`, which a waiting one has not moved
  if (step == CounterTotal::Step::reset) faults_.find(key.port)->second.resets++;
  if (step == CounterTotal::Step::gap) faults_.find(key.port)->second.gaps++;
  changed_ |= step == CounterTotal::Step::first || before != entry.total.state();
  return Counted{entry.total.value(), rate};
}

void CounterLedger::each(std::string_view port, const std::function<void(const CounterKeyView& key, std::uint64_t total)>& see) const {
  for (auto it = entries_.lower_bound(CounterKeyView{port, {}, {}}); it != entries_.end() && it->first->port == port; ++it) {
    see(it->first->view(), static_cast<std::uint64_t>(it->second.total.state().total));
  }
}

std::optional<std::uint64_t> CounterLedger::add(const ObservedKey& key, std::uint64_t events) {
  auto found = observed_.find(key);
  if (found == observed_.end()) {
    if (observed_.size() == kMostObserved) return std::nullopt;
    found = observed_.emplace(key, 0).first;
    changed_ = true;
  }
  changed_ |= events != 0;
  return found->second += events;
}

std::optional<std::uint64_t> CounterLedger::observed(const ObservedKey& key) const {
  const auto found = observed_.find(key);
  return found == observed_.end() ? std::nullopt : std::optional(found->second);
}

bool CounterLedger::observe(const ObservedKey& key, std::span<const double> bounds, double value) {
  auto found = histograms_.find(key);
  if (found == histograms_.end()) {
    if (histograms_.size() == kMostObserved) return false;
    found = histograms_.emplace(key, Histogram(bounds)).first;
  } else if (!found->second.has(bounds)) {
    found->second = Histogram(bounds);
  }
  found->second.add(value);
  changed_ = true;
  return true;
}

const Histogram* CounterLedger::histogram(const ObservedKey& key) const {
  const auto found = histograms_.find(key);
  return found == histograms_.end() ? nullptr : &found->second;
}

std::optional<CounterLedger::Last> CounterLedger::last(const CounterKeyView& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? std::nullopt : std::optional(Last{found->second.total.value(), found->second.at});
}

bool CounterLedger::take_changed() {
  const bool tenants = tenants_.take_changed(), sets = sets_.take_changed();
  return std::exchange(changed_, false) || tenants || sets;
}

LedgerImage CounterLedger::image() const {
  LedgerImage out;
  out.counters.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) out.counters.push_back({key, entry.total.state(), entry.at});
  out.ports.insert(faults_.begin(), faults_.end());
  out.observed = observed_;
  out.histograms = histograms_;
  out.tenants = tenants_.image();
  out.sets = sets_.image();
  return out;
}

}  // namespace qpscope
