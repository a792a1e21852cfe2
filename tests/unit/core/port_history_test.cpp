// SPDX-License-Identifier: Apache-2.0
#include "core/port_history.h"

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
constexpr MetricDef kRetransmits{"qpscope_port_retransmits_total", MetricType::counter, "(test).", kPort.with("cause")};
constexpr MetricDef kPfc{"qpscope_port_rx_pfc_pause_seconds_total", MetricType::counter, "(test).", kPort.with("priority")};
constexpr MetricDef kPause{"qpscope_port_rx_pause_seconds_total", MetricType::counter, "(test).", kPort};
constexpr MetricDef kOther{"qpscope_hw_counters_total", MetricType::counter, "(test).", kPort.with("counter")};

using Rates = std::vector<std::optional<double>>;

SharedSamples list(SampleList samples) { return std::make_shared<const SampleList>(std::move(samples)); }
SharedSamples rx(double total, const std::string& device = "mlx5_0") { return list({sample(kRx, {device, "1"}, total)}); }

struct History {
  PortHistory history;
  // Step n of the clock.
  void take(std::uint64_t n, std::vector<SharedSamples> lists) { history.take(lists, {(n * 2 + 1) * kSecond}); }
  std::optional<Rates> rates(std::string_view family, std::string_view device = "mlx5_0") const {
    for (const PortHistory::Rates& one : history.of(device, "1")) {
      if (one.family != family) continue;
      Rates out;
      for (const float rate : one.rates) out.push_back(std::isnan(rate) ? std::nullopt : std::optional<double>(rate));
      return out;
    }
    return std::nullopt;
  }
};

const std::nullopt_t kNo = std::nullopt;

}  // namespace

TEST_CASE("rates of totals, the oldest first", "[core.port_history]") {
  History h;
  CHECK(h.history.of("mlx5_0", "1").empty());
  h.take(10, {rx(1000)});
  CHECK(h.rates("rx_bytes") == Rates{kNo});  // what was before us is no rate
  h.take(11, {rx(1200)});
  h.take(12, {rx(1200)});
  CHECK(h.rates("rx_bytes") == Rates{kNo, 100, 0});
  CHECK_FALSE(h.rates("tx_bytes"));  // the port has none
  CHECK_FALSE(h.rates("rx_bytes", "mlx5_1"));
}

TEST_CASE("several snapshots within a step are one", "[core.port_history]") {
  History h;
  h.take(10, {rx(1000)});
  h.take(10, {rx(1100)});
  h.take(11, {rx(1200)});
  CHECK(h.rates("rx_bytes") == Rates{kNo, 100});
}

TEST_CASE("what grew between two readings is spread over the steps between", "[core.port_history]") {
  History h;
  h.take(10, {rx(1000)});
  h.take(13, {rx(1600)});
  CHECK(h.rates("rx_bytes") == Rates{kNo, 100, 100, 100});
}

TEST_CASE("a list that was not read anew is no reading", "[core.port_history]") {
  History h;
  const auto slow = list({sample(kPfc, {"mlx5_0", "1", "3"}, 1.0), sample(kPause, {"mlx5_0", "1"}, 2.0)});
  h.take(10, {slow, rx(0)});
  h.take(11, {slow, rx(200)});
  h.take(12, {slow, rx(400)});
  CHECK(h.rates("rx_pause_seconds") == Rates{kNo, kNo, kNo});
  CHECK(h.rates("rx_bytes") == Rates{kNo, 100, 100});
  h.take(13, {list({sample(kPfc, {"mlx5_0", "1", "3"}, 2.5), sample(kPause, {"mlx5_0", "1"}, 2.0)}), rx(600)});
  CHECK(h.rates("rx_pause_seconds") == Rates{kNo, 0.25, 0.25, 0.25});
}

TEST_CASE("causes and priorities are added up; one that is missing, or new, is no rate", "[core.port_history]") {
  History h;
  const auto both = [](double a, double b) {
    return list({sample(kRetransmits, {"mlx5_0", "1", "ack_timeout"}, a), sample(kRetransmits, {"mlx5_0", "1", "sequence_nak"}, b)});
  };
  const auto one = [](double a) { return list({sample(kRetransmits, {"mlx5_0", "1", "ack_timeout"}, a)}); };
  h.take(10, {both(10, 20)});
  h.take(11, {both(12, 22)});
  h.take(12, {one(100)});
  h.take(13, {one(102)});
  h.take(14, {both(102, 500)});
  h.take(15, {both(104, 500)});
  CHECK(h.rates("retransmits") == Rates{kNo, 2, kNo, 1, kNo, 1});
}

TEST_CASE("a total that falls is no rate, and the next is one again", "[core.port_history]") {
  History h;
  for (const auto& [step, total] : std::map<std::uint64_t, double>{{10, 1000}, {11, 1200}, {12, 0}, {13, 200}}) h.take(step, {rx(total)});
  CHECK(h.rates("rx_bytes") == Rates{kNo, 100, kNo, 100});
}

TEST_CASE("after a long silence there is nothing in between", "[core.port_history]") {
  History h;
  h.take(10, {rx(0)});
  h.take(11, {rx(200)});
  h.take(12, {});
  CHECK(h.rates("rx_bytes") == Rates{kNo, 100, kNo});
  h.take(60, {rx(1000)});
  h.take(61, {rx(1200)});
  const Rates all = *h.rates("rx_bytes");
  REQUIRE(all.size() == 52);
  CHECK(all[1] == 100.0);
  CHECK(std::count(all.begin(), all.end(), std::nullopt) == 50);
  CHECK(all[51] == 100.0);
}

TEST_CASE("five minutes are kept, all lists equally long", "[core.port_history]") {
  History h;
  for (std::uint64_t n = 1; n <= 400; ++n) {
    std::vector<SharedSamples> lists{rx(static_cast<double>(n * n))};
    if (n >= 390) lists.push_back(rx(static_cast<double>(n) * 2, "mlx5_1"));
    h.take(n, lists);
  }
  const Rates all = *h.rates("rx_bytes");
  REQUIRE(all.size() == PortHistory::kSteps);
  CHECK(all.front() == Approx((251.0 * 251 - 250.0 * 250) / 2));
  CHECK(all.back() == Approx((400.0 * 400 - 399.0 * 399) / 2));
  CHECK(std::ranges::is_sorted(all));
  const Rates young = *h.rates("rx_bytes", "mlx5_1");  // a port that came later
  REQUIRE(young.size() == PortHistory::kSteps);
  CHECK(std::count(young.begin(), young.end(), std::nullopt) == 140);
  CHECK(young.back() == 1.0);
}

TEST_CASE("a port that went is forgotten when its history is over", "[core.port_history]") {
  History h;
  h.take(1, {rx(0)});
  h.take(2, {rx(10)});
  for (std::uint64_t n = 3; n <= 151; ++n) h.take(n, {});
  CHECK(h.rates("rx_bytes"));
  for (std::uint64_t n = 152; n <= 310; ++n) h.take(n, {});
  CHECK(h.history.of("mlx5_0", "1").empty());
  h.take(311, {rx(1'000'000)});
  h.take(312, {rx(1'000'002)});
  const Rates all = *h.rates("rx_bytes");
  CHECK(std::count(all.begin(), all.end(), std::nullopt) == PortHistory::kSteps - 1);
}

TEST_CASE("there is room for so many ports, and one that goes makes room", "[core.port_history]") {
  History h;
  const auto ports = [](std::size_t first, std::size_t count, double total) {
    SampleList out;
    for (std::size_t n = first; n < first + count; ++n) out.push_back(sample(kRx, {"d" + std::to_string(n), "1"}, total));
    return list(std::move(out));
  };
  h.take(1, {ports(0, PortHistory::kMostPorts + 2, 0)});
  CHECK(h.history.left_out() == 2);
  h.take(2, {ports(0, PortHistory::kMostPorts, 2)});
  CHECK(h.history.left_out() == 0);
  CHECK(h.rates("rx_bytes", "d0") == Rates{kNo, 1});
  CHECK(h.history.of("d" + std::to_string(PortHistory::kMostPorts), "1").empty());
  for (std::uint64_t n = 3; n <= 310; ++n) h.take(n, {});
  h.take(311, {ports(5000, 1, 0)});
  CHECK(h.history.left_out() == 0);
}
