// SPDX-License-Identifier: Apache-2.0
#include "collectors/utilization.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "support/fake_host.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

using Counts = std::vector<std::uint64_t>;  // 0.01 0.05 0.1 0.25 0.5 0.75 0.9 0.95 0.99 1 +Inf

// A port of 8 Gb/s, which is 1e9 bytes a second, and its sampler. Every pass is a second after the one before.
struct Line {
  Site site;
  std::uint64_t words = 1'000'000;
  std::unique_ptr<DeviceSampler> sampler;

  Line() {
    add_device(site.tree);
    site.tree.file(kDevice + "/ports/1/rate", "8 Gb/sec (4X SDR)\n");
    restart({.name = "mlx5_0"});
  }
  void restart(DeviceLedger ledger) { sampler = std::make_unique<DeviceSampler>(site.host, std::move(ledger), Config{}, site.budgets, site.clock.fn()); }
  void put(std::string_view text) const { site.tree.file(kDevice + "/ports/1/counters/port_xmit_data", text); }
  // A pass `seconds` later, with so much of the line used.
  Counts pass(double ratio, double seconds = 1) {
    words += static_cast<std::uint64_t>(ratio * seconds * 1e9 / 4);
    put(std::to_string(words) + "\n");
    site.clock.pass(seconds);
    sampler->pass();
    return counts("port_traffic", "qpscope_port_tx_utilization_ratio");
  }
  Counts counts(std::string_view collector, std::string_view family) const {
    const auto state = sampler->state();
    for (const Sample& one : *output(state, collector).samples) {
      if (one.def->name == family) return std::get<HistogramValue>(one.value).counts;
    }
    return {};
  }
};

}  // namespace

TEST_CASE("each second's share of the line is observed", "[collectors.utilization]") {
  Line line;
  CHECK(line.pass(0.5).empty());  // the first sample
  CHECK(line.pass(0) == Counts{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(line.pass(0.6) == Counts{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0});
  CHECK(line.pass(0.97) == Counts{1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0});
  CHECK(line.pass(1.5) == Counts{1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1});
  CHECK(line.pass(0.2, 4) == Counts{1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1});  // the time is measured
  CHECK(line.counts("port_traffic", "qpscope_port_rx_utilization_ratio").empty());
}

TEST_CASE("no observation without two good samples in a row", "[collectors.utilization]") {
  Line line;
  line.pass(0);
  const Counts one = line.pass(0.3);
  line.put("nonsense\n");
  line.site.clock.pass(1);
  line.sampler->pass();
  CHECK(line.counts("port_traffic", "qpscope_port_tx_utilization_ratio") == one);  // it stays while nothing can be read
  CHECK(line.pass(0.9) == one);  // over two seconds
  CHECK(line.pass(0.3) == Counts{0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0});
  line.words = 1000;  // starts again
  CHECK(line.pass(0) == Counts{0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0});
  CHECK(line.pass(0.3) == Counts{0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0});  // confirmed
  CHECK(line.pass(0.3) == Counts{0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0});
  CHECK(line.pass(0.3) == Counts{0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("no observation without a line rate", "[collectors.utilization]") {
  for (const auto& [file, text] : {std::pair("rate", "0 Gb/sec (1X SDR)\n"), std::pair("rate", "nonsense\n"), std::pair("state", "1: DOWN\n")}) {
    INFO(file << " " << text);
    Line line;
    line.pass(0.3);
    line.pass(0.3);
    line.site.tree.file(kDevice + "/ports/1/" + file, text);
    for (int i = 0; i < 3; ++i) CHECK(line.pass(0.3) == Counts{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
  }
}

TEST_CASE("a counter at its maximum tells of no rate", "[collectors.utilization]") {
  Line line;
  line.words = 0xffff'ffff;  // 32 bits on this card
  CHECK(line.pass(0).empty());
  CHECK(line.pass(0).empty());
}

TEST_CASE("utilisation goes on over a restart, of which nothing is observed", "[collectors.utilization]") {
  Line line;
  line.pass(0);
  const Counts one = line.pass(0.3);
  line.restart(line.sampler->state().ledger);
  CHECK(line.pass(0.9) == one);
  CHECK(line.pass(0.9) == Counts{0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0});
}

TEST_CASE("a driver with bytes of its own has them here", "[collectors.utilization]") {
  Line line;
  line.site.tree.file(kDevice + "/parent", "eth0\n");  // rxe
  for (const int bytes : {100, 500'000'100}) {
    line.site.tree.file(kDevice + "/ports/1/hw_counters/rcvd_bytes", std::to_string(bytes) + "\n");
    line.site.clock.pass(1);
    line.sampler->pass();
  }
  CHECK(line.counts("hw_counters", "qpscope_port_rx_utilization_ratio") == Counts{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
}
