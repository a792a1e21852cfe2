// SPDX-License-Identifier: Apache-2.0
#include "exporters/prometheus.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

using namespace qpscope;
using Catch::Contains;

namespace {

constexpr MetricDef kCount{"t_b_total", MetricType::counter, "Counts (source).", LabelNames{"device", "port"}};
constexpr MetricDef kGauge{"t_a", MetricType::gauge, "Gauges (source).", LabelNames{"name"}};
constexpr std::array<double, 2> kBounds{0.5, 1};
constexpr MetricDef kHistogram{"t_c_seconds", MetricType::histogram, "Times (source).", LabelNames{"device"}};

Page page_of(SampleList samples) {
  const std::array<SharedSamples, 2> lists{nullptr, std::make_shared<const SampleList>(std::move(samples))};
  return render(lists);
}

std::vector<std::string> series_lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with('#')) out.push_back(line);
  }
  return out;
}

double value_of(double value) {
  const auto lines = series_lines(page_of({sample(kGauge, {"x"}, value)}).text);
  REQUIRE(lines.size() == 1);
  return std::stod(lines[0].substr(lines[0].find(' ')));
}

}  // namespace

TEST_CASE("families by name, series by labels, HELP and TYPE once", "[exporters.prometheus]") {
  const Page page = page_of({sample(kCount, {"mlx5_1", "1"}, 3), sample(kGauge, {"z"}, 1), sample(kCount, {"mlx5_0", "2"}, 2),
                             sample(kCount, {"mlx5_0", "1"}, 1)});
  CHECK(
      page.text ==
      "# HELP t_a Gauges (source).\n# TYPE t_a gauge\nt_a{name=\"z\"} 1\n"
      "# HELP t_b_total Counts (source).\n# TYPE t_b_total counter\n"
      "t_b_total{device=\"mlx5_0\",port=\"1\"} 1\nt_b_total{device=\"mlx5_0\",port=\"2\"} 2\nt_b_total{device=\"mlx5_1\",port=\"1\"} 3\n");
  CHECK(page.series == 4);
  CHECK(render({}).text.empty());
}

TEST_CASE("one family from several lists is one family", "[exporters.prometheus]") {
  const auto one = std::make_shared<const SampleList>(SampleList{sample(kGauge, {"b"}, 1)});
  const auto two = std::make_shared<const SampleList>(SampleList{sample(kGauge, {"a"}, 2)});
  const std::array<SharedSamples, 2> lists{one, two};
  CHECK(series_lines(render(lists).text) == std::vector<std::string>{"t_a{name=\"a\"} 2", "t_a{name=\"b\"} 1"});
}

TEST_CASE("hostile label values cannot leave their quotes or their line", "[exporters.prometheus]") {
  const auto line = [](std::string label) {
    const auto lines = series_lines(page_of({sample(kGauge, {std::move(label)}, 1)}).text);
    REQUIRE(lines.size() == 1);
    return lines[0];
  };
  CHECK(line("a\"b") == "t_a{name=\"a\\\"b\"} 1");
  CHECK(line("a\\b") == "t_a{name=\"a\\\\x5cb\"} 1");
  CHECK(line("a\nb 5") == "t_a{name=\"a\\\\x0ab 5\"} 1");
  CHECK(line("\xff\"} 7") == "t_a{name=\"\\\\xff\\\"} 7\"} 1");
  CHECK(line("") == "t_a{name=\"\"} 1");
}

TEST_CASE("equal labels: the first stays, also when made equal on the way out", "[exporters.prometheus]") {
  const Page page = page_of({sample(kGauge, {"x"}, 1), sample(kGauge, {"y"}, 5), sample(kGauge, {"x"}, 2)});
  CHECK(series_lines(page.text) == std::vector<std::string>{"t_a{name=\"x\"} 1", "t_a{name=\"y\"} 5"});
  CHECK(page.series == 2);
}

TEST_CASE("histograms are cumulative and end in +Inf", "[exporters.prometheus]") {
  const Page page = page_of({Sample{&kHistogram, {"d"}, HistogramValue{kBounds, {2, 3, 4}, 7.5}}});
  const auto lines = series_lines(page.text);
  CHECK_THAT(page.text, Contains("# TYPE t_c_seconds histogram\n"));
  for (const char* line :
       {"t_c_seconds_count{device=\"d\"} 9", "t_c_seconds_sum{device=\"d\"} 7.5", "t_c_seconds_bucket{device=\"d\",le=\"0.5\"} 2",
        "t_c_seconds_bucket{device=\"d\",le=\"1\"} 5", "t_c_seconds_bucket{device=\"d\",le=\"+Inf\"} 9"}) {
    INFO(line);
    CHECK(std::ranges::find(lines, line) != lines.end());
  }
  CHECK(lines.size() == 5);
  CHECK(page.series == 5);  // what Prometheus will count
}

TEST_CASE("big values keep their size", "[exporters.prometheus]") {
  CHECK(value_of(9007199254740992.0) == 9007199254740992.0);  // 2^53
  CHECK(value_of(9007199254740991.0) == 9007199254740991.0);
  CHECK(value_of(18446744073709551615.0) == 18446744073709551615.0);
  CHECK(value_of(12345678901234568.0) == 12345678901234568.0);
  CHECK(value_of(0.1) == 0.1);
  CHECK(value_of(-3) == -3);
  CHECK(std::isinf(value_of(INFINITY)));
}
