// SPDX-License-Identifier: Apache-2.0
// A histogram that is kept. Its bounds are its own: the code that goes on with it may have come to other ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/metric.h"

namespace qpscope {

struct Histogram {
  static constexpr std::size_t kMostBounds = 64;

  std::vector<double> bounds;          // upper bounds, rising; +Inf is implied
  std::vector<std::uint64_t> counts;   // per bucket, not cumulative; bounds.size() + 1 of them
  double sum = 0;

  Histogram() = default;
  explicit Histogram(std::span<const double> upper) : bounds(upper.begin(), upper.end()), counts(upper.size() + 1) {}

  void add(double value) {
    ++counts[static_cast<std::size_t>(std::ranges::lower_bound(bounds, value) - bounds.begin())];
    sum += value;
  }
  bool has(std::span<const double> upper) const { return std::ranges::equal(bounds, upper); }
  // For the page. `upper`: the same bounds, in static storage.
  HistogramValue value(std::span<const double> upper) const { return {upper, counts, sum}; }

  friend bool operator==(const Histogram&, const Histogram&) = default;
};

}  // namespace qpscope
