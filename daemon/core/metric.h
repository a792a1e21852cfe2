// SPDX-License-Identifier: Apache-2.0
// A metric is declared once, where its value is read: one MetricDef row, and Samples that point to it. The page, the
// reference (METRICS.md) and the tests all read these rows. Names are the contract in exporters/METRICS.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/labels.h"

namespace qpscope {

enum class MetricType : std::uint8_t { counter, gauge, histogram };

struct LabelNames {
  static constexpr std::size_t kMost = 16;
  std::array<std::string_view, kMost> names{};
  std::size_t count = 0;

  constexpr LabelNames() = default;
  template <class... Name>
    requires(sizeof...(Name) <= kMost)
  constexpr explicit LabelNames(Name... name) : names{std::string_view(name)...}, count(sizeof...(Name)) {}
  constexpr std::span<const std::string_view> list() const { return {names.data(), count}; }

  template <class... Name>
  constexpr LabelNames with(Name... more) const {
    LabelNames out = *this;
    ((out.names.at(out.count++) = std::string_view(more)), ...);
    return out;
  }
};

// Static storage only: Samples keep pointers to it.
struct MetricDef {
  std::string_view name;  // with its prefix and unit; counters end in _total
  MetricType type = MetricType::gauge;
  std::string_view help;  // one ASCII line that ends with the source in brackets
  LabelNames labels;
};

struct HistogramValue {
  std::span<const double> bounds;             // upper bounds, rising; +Inf is implied. Static storage
  std::vector<std::uint64_t> counts;          // per bucket, not cumulative; bounds.size() + 1 of them
  double sum = 0;
};

// One value. Labels are in the order of def->labels.
struct Sample {
  const MetricDef* def = nullptr;
  Labels labels;
  std::variant<double, HistogramValue> value;
};

using SampleList = std::vector<Sample>;
using SharedSamples = std::shared_ptr<const SampleList>;
using MetricList = std::span<const MetricDef* const>;  // what a room may emit

inline Sample sample(const MetricDef& def, Labels labels, double value) { return {&def, std::move(labels), value}; }

}  // namespace qpscope
