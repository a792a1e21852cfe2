// SPDX-License-Identifier: Apache-2.0
#include "collectors/set_cost.h"

#include <catch2/catch.hpp>
#include <cerrno>

#include "support/fake_clock.h"
#include "support/fake_netlink.h"

using namespace qpscope;
using namespace qpscope::test;
using Kind = NlCounterMode::Kind;

namespace {

struct Bench {
  FakeClock clock;
  ClockFn now = clock.fn();
  ReadErrors errors;
  CounterLedger ledger;
  FakeNetlink netlink;
  std::unique_ptr<DeviceNetlink> line = netlink.line();
  SetCost sets;

  // So much later; the firmware commands of the look.
  std::uint64_t after(double seconds) {
    clock.pass(seconds);
    Reading reading{.samples = {}, .errors = errors, .ledger = ledger, .now = now};
    sets.look(reading, *line, PortNum{1});
    return reading.firmware_commands;
  }
};

}  // namespace

TEST_CASE("a port without sets costs nothing", "[collectors.set_cost]") {
  Bench bench;
  CHECK_FALSE(bench.sets.settles());
  for (int i = 0; i < 30; ++i) CHECK(bench.after(1) == 0);
  CHECK_FALSE(bench.sets.settles());
  CHECK(bench.sets.commands(30) == 0);
  CHECK(bench.netlink.asked["counter_sets"] == 0);
}

TEST_CASE("sets are counted every 15 s, and settle for 10 s after the last is gone", "[collectors.set_cost]") {
  Bench bench;
  bench.netlink.mode.kind = Kind::manual;
  bench.netlink.count_sets(4);
  CHECK(bench.after(1) == 4);
  CHECK(bench.sets.settles());
  CHECK(bench.sets.commands(25) == 100);
  bench.netlink.count_sets(6);
  for (int i = 0; i < 14; ++i) CHECK(bench.after(1) == 0);
  CHECK(bench.sets.commands(25) == 100);
  CHECK(bench.after(1) == 6);
  CHECK(bench.sets.commands(25) == 150);

  bench.netlink.mode.kind = Kind::none;
  CHECK(bench.after(1) == 0);
  CHECK(bench.sets.commands(25) == 0);
  CHECK(bench.sets.settles());
  bench.after(8);
  CHECK(bench.sets.settles());
  bench.after(2);
  CHECK_FALSE(bench.sets.settles());
  bench.netlink.mode.kind = Kind::automatic;
  CHECK(bench.after(1) == 6);  // at once
  CHECK(bench.sets.settles());
}

TEST_CASE("where the mode cannot be told what was known stays, and nothing is lost", "[collectors.set_cost]") {
  Bench bench;
  bench.netlink.mode.kind = Kind::manual;
  bench.netlink.count_sets(4);
  bench.after(1);
  bench.netlink.fail("counter_sets", EIO);
  CHECK(bench.after(15) == 4);  // asked all the same
  CHECK(bench.sets.commands(25) == 100);
  bench.netlink.fail("counter_mode", EIO);
  for (int i = 0; i < 7; ++i) bench.after(1);
  CHECK(bench.netlink.asked["counter_mode"] == 5);
  CHECK(bench.sets.settles());
  CHECK(bench.sets.commands(25) == 100);
  CHECK(bench.errors.counts().empty());
}

TEST_CASE("sets that the device's book knows of are not counted again", "[collectors.set_cost]") {
  Bench bench;
  bench.netlink.mode.kind = Kind::manual;
  bench.netlink.count_sets(4);
  const std::vector<SetBook::Row> rows{{.id = {1}, .members = {}, .counters = {}}, {.id = {2}, .members = {}, .counters = {}}};
  bench.ledger.sets().read(PortNum{1}, rows, true, bench.clock.now(), bench.ledger.tenants(), [](PortNum, Qpn) { return std::nullopt; });
  for (int i = 0; i < 30; ++i) CHECK(bench.after(1) == 0);
  CHECK(bench.sets.commands(25) == 50);
  CHECK(bench.netlink.asked["counter_sets"] == 0);
}
