// SPDX-License-Identifier: Apache-2.0
#include "exporters/metrics_doc.h"

#include <array>
#include <catch2/catch.hpp>

using namespace qpscope;
using Catch::Contains;

namespace {

constexpr MetricDef kCount{"t_b_total", MetricType::counter, "Counts (source).", LabelNames{"device", "port"}};
constexpr MetricDef kNarrow{"t_a", MetricType::gauge, "Gauges (source).", LabelNames{"name"}};
constexpr MetricDef kWide{"t_a", MetricType::gauge, "Gauges (source).", LabelNames{"name", "pid"}};
constexpr MetricDef kHistogram{"t_c_seconds", MetricType::histogram, "Times (source).", LabelNames{"device"}};

}  // namespace

TEST_CASE("the reference has one sorted row for each family", "[exporters.metrics_doc]") {
  const std::array<const MetricDef*, 3> first{&kHistogram, &kNarrow, &kWide};
  const std::array<const MetricDef*, 1> second{&kCount};
  const std::string text = metrics_markdown({first, second});
  CHECK_THAT(
      text,
      Contains("| `t_a` | gauge | `name`, `pid` | Gauges (source). |\n| `t_b_total` | counter | `device`, `port` | Counts (source). |\n"
               "| `t_c_seconds` | histogram | `device` | Times (source). |\n"));
  CHECK(text.find("`t_a`") == text.rfind("`t_a`"));
}
