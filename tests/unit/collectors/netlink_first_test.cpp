// SPDX-License-Identifier: Apache-2.0
#include "collectors/netlink_first.h"

#include <catch2/catch.hpp>
#include <cerrno>

#include "support/fake_clock.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

struct Bench {
  FakeClock clock;
  ClockFn now = clock.fn();
  ReadErrors errors;
  CounterLedger ledger;
  int asked = 0;
  std::uint64_t commands = 0;
  std::size_t troubles = 0;

  // One pass a second later; the value, or 0.
  int ask(NetlinkFirst& way, Result<int> answer) {
    clock.pass(1);
    Reading reading{.samples = {}, .errors = errors, .ledger = ledger, .now = now};
    const auto value = way.ask(reading, "hw_counters", 3, [&] { return ++asked, answer; });
    commands += reading.firmware_commands;
    troubles = reading.troubles;
    return value.value_or(0);
  }
};

Result<int> error(int sys_errno) { return std::unexpected(io_error("asked", sys_errno)); }

}  // namespace

TEST_CASE("an answer is an answer", "[collectors.netlink_first]") {
  Bench bench;
  NetlinkFirst way(true);
  CHECK(bench.ask(way, 7) == 7);
  CHECK(bench.ask(way, 8) == 8);
  CHECK_FALSE(way.files());
  CHECK(bench.commands == 6);
}

TEST_CASE("without netlink it is the files", "[collectors.netlink_first]") {
  Bench bench;
  NetlinkFirst way(false);
  CHECK(bench.ask(way, 7) == 0);
  CHECK(way.files());
  CHECK(bench.asked == 0);
  CHECK(bench.commands == 0);
}

TEST_CASE("what netlink can never answer is left to the files", "[collectors.netlink_first]") {
  for (const int never : {EMSGSIZE, EOPNOTSUPP}) {
    Bench bench;
    NetlinkFirst way(true);
    for (int pass = 0; pass < 200; ++pass) {
      CHECK(bench.ask(way, error(never)) == 0);
      CHECK(way.files());
      CHECK(bench.troubles == 0);
    }
    CHECK(bench.asked == 1);
    CHECK(bench.errors.counts().empty());
  }
}

TEST_CASE("what may be the wrong place to ask is left to the files, and asked again less and less often", "[collectors.netlink_first]") {
  for (const int perhaps : {EINVAL, ENODEV}) {
    Bench bench;
    NetlinkFirst way(true);
    for (int pass = 0; pass < 30; ++pass) {
      CHECK(bench.ask(way, error(perhaps)) == 0);
      CHECK(way.files());
      CHECK(bench.troubles == 0);
    }
    CHECK(bench.asked == 5);  // after 0, 1, 3, 7, 15 s
    CHECK(bench.ask(way, 7) == 7);
    CHECK_FALSE(way.files());
    CHECK(bench.errors.counts().empty());
  }
}

TEST_CASE("any other error is a read that failed", "[collectors.netlink_first]") {
  Bench bench;
  NetlinkFirst way(true);
  for (int pass = 0; pass < 7; ++pass) {
    CHECK(bench.ask(way, error(EIO)) == 0);
    CHECK_FALSE(way.files());
    CHECK(bench.troubles == 1);
  }
  CHECK(bench.asked == 3);
  CHECK(bench.errors.counts().at({"hw_counters", "EIO"}) == 3);
  CHECK(bench.ask(way, 7) == 7);
  CHECK(bench.troubles == 0);
}
