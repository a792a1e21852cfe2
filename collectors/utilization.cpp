// SPDX-License-Identifier: Apache-2.0
#include "collectors/utilization.h"

#include <array>
#include <utility>

#include "collectors/vocabulary/families.h"

namespace qpscope {
namespace {

constexpr std::array<double, 10> kBounds{0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1};

}  // namespace

void Utilization::follow(Reading& out, const std::string& port, const MetricDef& bytes, std::optional<double> rate) {
  const MetricDef* family = utilization_family(bytes);
  if (!family) return;
  const std::uint64_t before = std::exchange(last_pass_[{port, family}], pass_);
  const auto line = out.ledger.line_rate(port);
  if (before + 1 == pass_ && line && rate) out.observe({port, std::string(family->name)}, kBounds, *rate / *line);
}

void Utilization::end_pass(Reading& out) {
  for (const auto& [key, pass] : last_pass_) {
    auto histogram = out.observe({key.port, std::string(key.family->name)}, kBounds, std::nullopt);
    if (histogram) out.samples.push_back({key.family, {device_, key.port}, std::move(*histogram)});
  }
  ++pass_;
}

}  // namespace qpscope
