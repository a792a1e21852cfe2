// SPDX-License-Identifier: Apache-2.0
// Netlink or files, and what each costs: the collectors of a made host with a netlink of the test's own.
#include <catch2/catch.hpp>
#include <cerrno>
#include <map>

#include "collectors/registry.h"
#include "support/fake_host.h"
#include "support/fake_netlink.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

struct Bench {
  Site site;
  FakeNetlink netlink;
  Host host{.root = site.root, .live = false, .netlink = [this](const std::string&) { return netlink.line(); }};
  double step = 1e-9;  // seconds from one look at the clock to the next
  ClockFn now = [this] { return site.clock.pass(step), site.clock.now(); };
  ReadErrors errors;
  CounterLedger ledger;
  std::unique_ptr<Collector> collector;
  std::uint64_t commands = 0;                      // of the last pass
  std::map<std::string, std::optional<double>> hw;  // of the last pass, by kernel name

  explicit Bench(std::string_view driver = "mlx5_core") {
    add_device(site.tree);
    site.tree.link(kDevice + "/device/driver", "../" + std::string(driver));
    site.tree.file(kDevice + "/ports/1/hw_counters/lifespan", "10\n");
    for (const char* name : {"rx_write_requests", "a", "b", "c"}) site.tree.file(kDevice + "/ports/1/hw_counters/" + name, "1\n");
  }
  void pass(const CollectorRow& row = kHwCounters) {
    if (!collector) collector = row.make(host, "mlx5_0");
    site.clock.pass(1);
    Reading reading{.samples = {}, .errors = errors, .ledger = ledger, .now = now};
    REQUIRE(collector->collect(reading));
    commands = reading.firmware_commands;
    hw.clear();
    for (const Sample& one : reading.samples) {
      if (one.def->name == "qpscope_hw_counters_total") hw[std::string(one.labels[2])] = std::get<double>(one.value);
      if (one.def->name == "qpscope_port_state") hw["state"] = std::get<double>(one.value);
      if (one.def->name == "qpscope_port_physical_state") hw["phys_state"] = std::get<double>(one.value);
    }
  }
};

}  // namespace

TEST_CASE("hardware counters: one question to netlink instead of a read a file", "[collectors.hw_counters]") {
  Bench bench;
  bench.netlink.counters = {{"out_of_sequence", 7}, {"cc_rx_ce_pkts", 9}};  // one is in no file
  bench.pass();
  CHECK(bench.hw["out_of_sequence"] == 7);
  CHECK(bench.hw["cc_rx_ce_pkts"] == 9);
  CHECK(bench.hw.size() == 2);
  CHECK(bench.netlink.asked["port_counters"] == 1);
  CHECK(bench.commands == 3);
}

TEST_CASE("hardware counters: with sets each name asks for each of them", "[collectors.hw_counters]") {
  Bench bench;
  bench.netlink.mode.kind = NlCounterMode::Kind::manual;
  bench.netlink.count_sets(5);
  bench.netlink.counters = {{"out_of_sequence", 7}, {"a", 1}};
  bench.pass();
  CHECK(bench.commands == 3 + 5 + 2 * 5);
  bench.pass();
  CHECK(bench.commands == 3 + 2 * 5);
  bench.netlink.fail("port_counters", EMSGSIZE);
  bench.pass();
  CHECK(bench.hw["a"] == 1);
  CHECK(bench.commands == 3 + 3 + 5 * 5);  // the question, a pass, five files
}

TEST_CASE("hardware counters: while there are sets a rise waits for the next sample", "[collectors.hw_counters]") {
  Bench bench;
  const auto shows = [&](std::uint64_t raw) {
    bench.netlink.counters = {{"out_of_sequence", raw}};
    bench.pass();
    return bench.hw["out_of_sequence"];
  };
  bench.netlink.mode.kind = NlCounterMode::Kind::manual;
  CHECK(shows(100) == 100);
  CHECK(shows(140) == 100);
  bench.netlink.mode.kind = NlCounterMode::Kind::none;  // released
  CHECK(shows(110) == 110);
  bench.site.clock.pass(20);
  CHECK(shows(120) == 120);
}

TEST_CASE("hardware counters: the files where netlink has none", "[collectors.hw_counters]") {
  Bench bench;
  bench.netlink.fail("port_counters", EINVAL);
  bench.pass();
  CHECK(bench.hw["out_of_sequence"] == 7);
  CHECK(bench.hw.size() == 5);
  CHECK(bench.errors.counts().empty());
  bench.netlink.failing.clear();
  bench.pass();
  CHECK(bench.hw.size() == 1);
  bench.netlink.fail("port_counters", EIO);
  bench.pass();
  CHECK(bench.hw.empty());
  CHECK(bench.errors.counts().at({"hw_counters", "EIO"}) == 1);
}

TEST_CASE("hardware counters by files: one pass of the card serves them, unless reading takes longer than the cache lives", "[collectors.hw_counters]") {
  Bench bench;
  bench.host.netlink = nullptr;
  bench.pass();
  CHECK(bench.hw.size() == 5);
  CHECK(bench.commands == 3);
  // The clock is looked at twice a file. The cache serves the second and the third; with the fourth it may have ended; then the first is
  // read again, which serves the fifth.
  bench.step = 0.0026;
  bench.pass();
  CHECK(bench.hw.size() == 5);
  CHECK(bench.commands == 9);
}

TEST_CASE("a driver without firmware costs none", "[collectors.hw_counters]") {
  Bench bench("rdma_rxe");
  bench.pass();
  CHECK(bench.commands == 0);
  bench.netlink.fail("port_counters", EINVAL);
  bench.pass();
  CHECK(bench.commands == 0);
  Bench other("bnxt_en");
  other.pass();
  CHECK(other.commands == 1);
}

TEST_CASE("the state of a port: one question to netlink instead of two files", "[collectors.hw_counters]") {
  Bench bench;
  bench.netlink.state.state = 1;
  bench.netlink.state.phys_state = 3;
  bench.pass(kPortState);
  CHECK(bench.hw["state"] == 1);
  CHECK(bench.hw["phys_state"] == 3);
  CHECK(bench.commands == 1);
  bench.netlink.fail("port", EINVAL);
  bench.pass(kPortState);
  CHECK(bench.hw["state"] == 4);
  CHECK(bench.hw["phys_state"] == 5);
  CHECK(bench.commands == 3);
}

TEST_CASE("every read of the other collectors counts too", "[collectors.hw_counters]") {
  Bench bench;
  bench.site.tree.file(kDevice + "/ports/1/counters/port_rcv_data", "100\n");
  bench.pass(kPortTraffic);
  CHECK(bench.commands == 2);
  bench.collector.reset();
  bench.site.tree.file(kDevice + "/ports/1/rate", "400 Gb/sec (4X NDR)\n");
  bench.site.tree.file(kDevice + "/ports/1/lid", "0x0\n");
  bench.pass(kPortInfo);
  CHECK(bench.commands == 3);  // lid, state, rate
}
