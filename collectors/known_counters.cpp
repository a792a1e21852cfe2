// SPDX-License-Identifier: Apache-2.0
#include "collectors/known_counters.h"

#include <algorithm>

namespace qpscope {
namespace {

bool same(const CounterRow& a, const CounterRow& b) { return a.family == b.family && a.label == b.label; }

}  // namespace

KnownCounters::Counter& KnownCounters::find(std::string_view name) {
  Node* const before = last_;
  if (before && before->second.next && before->second.next->first == name) return (last_ = before->second.next)->second.counter;
  const auto found_next = [&](Node& found) -> Counter& {
    if (before) before->second.next = &found;
    return (last_ = &found)->second.counter;
  };
  if (const auto known = counters_.find(name); known != counters_.end()) return found_next(*known);
  Counter out{.shape = hw_counter_shape(driver_, name), .row = hw_counter_row(driver_, name), .of_representor = is_of_representor(driver_, name)};
  if (counters_.size() >= kMost) return beyond_ = out;
  if (out.row && out.row->family) {
    out.series = series_of(*out.row, out.of_representor);
    ++series_[*out.series].parts;
    has_sums_ |= out.row->summed;
  }
  if (!out.row) unmapped_.emplace(name);
  has_representor_ |= out.of_representor;
  return found_next(*counters_.emplace(name, Known{.counter = out}).first);
}

void KnownCounters::add_gone(std::string_view name, double total) {
  if (counters_.contains(name)) return;
  const CounterRow* row = hw_counter_meaning(driver_, name);
  if (!row || !row->summed) return;
  const auto one = std::ranges::find_if(series_, [&](const Series& series) { return same(*series.meaning, *row); });
  if (one != series_.end()) one->value += total * row->scale();
}

std::size_t KnownCounters::series_of(const CounterRow& row, bool of_representor) {
  for (std::size_t i = 0; i < series_.size(); ++i) {
    if (same(*series_[i].meaning, row) && series_[i].of_representor == of_representor) return i;
  }
  series_.push_back({.meaning = &row, .of_representor = of_representor});
  return series_.size() - 1;
}

void KnownCounters::add(const Counter& counter, double total, std::optional<double> rate) {
  if (!counter.series) return;
  Series& one = series_[*counter.series];
  ++one.added;
  one.value += total * counter.row->scale();
  one.rate = one.rate && rate ? std::optional(*one.rate + *rate * counter.row->scale()) : std::nullopt;
}

bool KnownCounters::feeds(const CounterRow& meaning) const {
  return std::ranges::any_of(series_, [&](const Series& one) { return same(*one.meaning, meaning) && !one.of_representor; });
}

}  // namespace qpscope
