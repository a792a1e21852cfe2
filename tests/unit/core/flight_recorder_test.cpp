// SPDX-License-Identifier: Apache-2.0
#include "core/flight_recorder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <optional>

#include "support/fake_clock.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

constexpr LabelNames kPort{"device", "port"};
constexpr MetricDef kRx{"qpscope_port_rx_bytes_total", MetricType::counter, "(test).", kPort};
constexpr MetricDef kOwn{"qpscope_tenant_rx_bytes_total", MetricType::counter, "(test).", kPort};
constexpr MetricDef kState{"qpscope_port_state", MetricType::gauge, "(test).", kPort};
constexpr MetricDef kPairs{"qpscope_queue_pairs", MetricType::gauge, "(test).", kPort};
constexpr MetricDef kRaw{"qpscope_port_counters_total", MetricType::counter, "(test).", kPort};

using Values = std::vector<std::optional<double>>;

struct Recorder {
  FlightRecorder recorder;
  std::vector<SharedSamples> last;

  void take(std::uint64_t second, SampleList samples) {
    last = {std::make_shared<const SampleList>(std::move(samples))};
    recorder.take(last, {second * kSecond});
  }
  void take_nothing(std::uint64_t second) { recorder.take(last, {second * kSecond}); }
  std::optional<Values> values(const MetricDef& def, const std::string& device = "mlx5_0", std::size_t seconds = FlightRecorder::kSeconds) const {
    for (const FlightRecorder::Series& one : recorder.window(seconds).series) {
      if (one.def != &def || one.labels[0] != device) continue;
      Values out;
      for (const float value : one.values) out.push_back(std::isnan(value) ? std::nullopt : std::optional<double>(value));
      return out;
    }
    return std::nullopt;
  }
};

Sample rx(double total, const std::string& device = "mlx5_0") { return sample(kRx, {device, "1"}, total); }

const std::nullopt_t kNo = std::nullopt;

}  // namespace

TEST_CASE("what a counter grew by, second by second", "[core.flight_recorder]") {
  Recorder r;
  r.take(100, {rx(1000)});
  CHECK_FALSE(r.values(kRx));
  r.take(101, {rx(1000)});
  r.take(102, {rx(1007)});
  r.take(103, {rx(1007)});
  // Before the first reading nothing is known; then zeros, although it had no row yet.
  CHECK(r.values(kRx) == Values{kNo, 0, 7, 0});
  CHECK(r.values(kRx, "mlx5_0", 2) == Values{7, 0});
  CHECK(r.recorder.window().began == BootTime{100 * kSecond});
  CHECK(r.recorder.window().ended == BootTime{104 * kSecond});
}

TEST_CASE("a second counts once, and what is sampled seldom is spread", "[core.flight_recorder]") {
  Recorder r;
  r.take(100, {rx(0)});
  r.take(100, {rx(50)});
  r.take(101, {rx(50)});
  r.take_nothing(102);
  CHECK(r.values(kRx) == Values{kNo, 50, kNo});  // it may come yet
  r.take_nothing(103);
  r.take(104, {rx(80)});
  CHECK(r.values(kRx) == Values{kNo, 50, 10, 10, 10});
}

TEST_CASE("what was not read for long, or was taken back, is a gap", "[core.flight_recorder]") {
  Recorder r;
  r.take(100, {rx(0)});
  r.take(101, {rx(5)});
  r.take(301, {rx(1000)});
  auto values = r.values(kRx).value();
  CHECK(values[1] == 5);
  CHECK(std::ranges::count(values, Values::value_type()) == 201);
  r.take(302, {rx(1004)});
  r.take(303, {rx(10)});
  r.take(304, {rx(11)});
  values = r.values(kRx).value();
  CHECK(Values(values.end() - 4, values.end()) == Values{kNo, 4, kNo, 1});
}

TEST_CASE("a counter of ours that comes new began at 0", "[core.flight_recorder]") {
  Recorder r;
  r.take(100, {rx(7)});
  r.take(101, {rx(7), sample(kOwn, {"mlx5_0", "1"}, 3)});
  CHECK(r.values(kOwn) == Values{0, 3});
  CHECK_FALSE(r.values(kRx));
}

TEST_CASE("numbers of queue pairs and states are told as they are", "[core.flight_recorder]") {
  Recorder r;
  r.take(100, {sample(kState, {"mlx5_0", "1"}, 4)});
  r.take(101, {sample(kState, {"mlx5_0", "1"}, 4), sample(kPairs, {"mlx5_0", "1"}, 64)});
  r.take(102, {sample(kState, {"mlx5_0", "1"}, 1), sample(kPairs, {"mlx5_0", "1"}, 60)});
  r.take(103, {});
  r.take(104, {sample(kState, {"mlx5_0", "1"}, 4)});
  CHECK(r.values(kState) == Values{4, 4, 1, kNo, 4});
  CHECK(r.values(kPairs) == Values{0, 64, 60, 0, 0});
  CHECK(r.recorder.rows() == 2);
}

TEST_CASE("a second that nobody looked in is no change", "[core.flight_recorder]") {
  Recorder r;
  for (const std::uint64_t second : {100, 101, 103, 120}) r.take(second, {sample(kState, {"mlx5_0", "1"}, 4), sample(kPairs, {"mlx5_0", "1"}, 64)});
  const Values states = r.values(kState).value(), pairs = r.values(kPairs).value();
  CHECK(Values(states.begin(), states.begin() + 5) == Values{4, 4, 4, 4, kNo});
  CHECK(Values(pairs.begin(), pairs.begin() + 5) == Values{64, 64, 64, 64, 0});
}

TEST_CASE("the kernel's own names are not recorded", "[core.flight_recorder]") {
  Recorder r;
  r.take(100, {sample(kRaw, {"mlx5_0", "1"}, 4)});
  CHECK(r.recorder.known() == 0);
}

TEST_CASE("a quarter of an hour, and no more", "[core.flight_recorder]") {
  Recorder r;
  constexpr std::uint64_t kBegin = 1000;
  for (std::uint64_t i = 0; i < 2000; ++i) r.take(kBegin + i, {rx(static_cast<double>(i * i))});
  const Values values = r.values(kRx).value();
  REQUIRE(values.size() == FlightRecorder::kSeconds);
  CHECK(r.recorder.seconds_held() == FlightRecorder::kSeconds);
  for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(values[i] == Approx(2 * (1100 + static_cast<double>(i)) - 1));
  const auto mine = [](const MetricDef& def, const Labels&) { return &def == &kRx; };
  CHECK(r.recorder.grown(2, mine) == Approx(3997 + 3995));
  CHECK(r.recorder.grown(2, [](const MetricDef&, const Labels&) { return false; }) == 0);
}

TEST_CASE("rows go back when nothing moves, and series that are gone are forgotten", "[core.flight_recorder]") {
  Recorder r;
  r.take(100, {rx(0), rx(0, "mlx5_1")});
  r.take(101, {rx(9), rx(9, "mlx5_1")});
  CHECK(r.recorder.rows() == 2);
  for (std::uint64_t second = 102; second < 1100; ++second) r.take(second, {rx(9)});
  CHECK(r.recorder.rows() == 0);
  CHECK(r.recorder.known() == 1);
  r.take(1100, {rx(11)});
  CHECK(r.recorder.rows() == 1);
  const Values values = r.values(kRx).value();
  CHECK(values.back() == 2);
  CHECK(values[values.size() - 2] == 0);
  CHECK(std::ranges::count(values, Values::value_type()) == 0);
}

TEST_CASE("more series than there is room for are counted, and the first stay", "[core.flight_recorder]") {
  Recorder r;
  for (const double total : {0.0, 5.0}) {
    SampleList samples;
    for (std::size_t i = 0; i < FlightRecorder::kMostRows + 10; ++i) samples.push_back(rx(total, "d" + std::to_string(i)));
    r.take(100 + static_cast<std::uint64_t>(total), std::move(samples));
  }
  CHECK(r.recorder.rows() == FlightRecorder::kMostRows);
  CHECK(r.recorder.left_out() == 10);
  CHECK(r.values(kRx, "d0"));
  CHECK_FALSE(r.values(kRx, "d" + std::to_string(FlightRecorder::kMostRows)));
  SampleList many;
  for (std::size_t i = 0; i < FlightRecorder::kMostKnown; ++i) many.push_back(rx(0, "e" + std::to_string(i)));
  r.take(106, std::move(many));
  CHECK(r.recorder.known() == FlightRecorder::kMostKnown);
  CHECK(r.recorder.left_out() == FlightRecorder::kMostRows + 10);
}
