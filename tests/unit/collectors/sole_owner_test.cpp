// SPDX-License-Identifier: Apache-2.0
#include "collectors/sole_owner.h"

#include <catch2/catch.hpp>

#include "support/counter_machine.h"

using namespace qpscope;
using namespace qpscope::test;
using Is = PortVerdict::Is;

namespace {

constexpr PortNum kPort = CounterMachine::kPort;
const Ownership::Verdict kA{Is::sole, "a", "1"}, kB{Is::sole, "b", "1"}, kShared{Is::shared, "", ""}, kPending{Is::pending, "", ""};

// The collectors on a port whose owner the test tells; counter 1 is one that sets do not count.
struct Owned : CounterMachine {
  FakeOwnership ownership;
  QpSerial qp = kernel.running(kTenantA);
  explicit Owned(CountersConfig with = {}) : CounterMachine(std::move(with)) {
    host.ownership = &ownership;
    ownership.verdict = kA;
    start();
    passes(2);  // the first reading begins, the second ends the first interval
  }
  std::uint64_t sole(const TenantKey& who = kTenantA, const std::string& counter = "out_of_sequence") const {
    return credited(who, counter, CreditMethod::sole_owner);
  }
  // Such a verdict on what comes now, until all of it is decided.
  void counts(std::uint64_t events, const Ownership::Verdict& verdict, std::size_t counter = 0) {
    kernel.count(qp, events, counter);
    ownership.verdict = verdict;
    passes(2);
  }
};

}  // namespace

TEST_CASE("what came while a tenant owned the port is its own, and nothing from before", "[collectors.sole_owner]") {
  CounterMachine m(CountersConfig{});
  FakeOwnership ownership;
  ownership.verdict = kA;
  m.host.ownership = &ownership;
  const QpSerial qp = m.kernel.running(kTenantA);
  m.kernel.count(qp, 100);
  m.start();
  m.passes(3);
  CHECK(m.all_credited() == 0);
  m.kernel.count(qp, 5);
  m.kernel.count(qp, 6, 1);
  m.passes(2);
  CHECK(m.credited(kTenantA, "out_of_sequence", CreditMethod::sole_owner) == 5);
  CHECK(m.credited(kTenantA, "np_cnp_sent", CreditMethod::sole_owner) == 6);
  CHECK(m.unattributed() == 100);
}

TEST_CASE("owners are asked about all the time between two readings, and nothing in between is left out", "[collectors.sole_owner]") {
  Owned m;
  m.passes(10);
  REQUIRE(m.ownership.asked.size() > 8);
  for (std::size_t i = 3; i < m.ownership.asked.size(); ++i) {
    const auto [from, to] = m.ownership.asked[i];
    CHECK(from < m.ownership.asked[i - 1].second);
    CHECK(to > m.ownership.asked[i - 1].second);
  }
}

TEST_CASE("an interval in between that was shared is nobody's", "[collectors.sole_owner]") {
  Owned m;
  m.counts(5, kA);
  m.counts(7, kShared);
  m.counts(2, kB);
  m.counts(3, kA);
  CHECK(m.sole() == 8);
  CHECK(m.sole(kTenantB) == 2);
  CHECK(m.unattributed() == 7);
}

TEST_CASE("a pending verdict is waited for, and takes what came meanwhile with it", "[collectors.sole_owner]") {
  Owned m;
  m.counts(1, kA);
  m.kernel.count(m.qp, 5);
  m.ownership.verdict = kPending;
  m.passes(6);
  m.kernel.count(m.qp, 6);
  CHECK(m.sole() == 1);
  CHECK(m.unattributed() == 0);  // it may still be somebody's
  m.ownership.verdict = kA;
  m.passes(3);
  CHECK(m.sole() == 12);
  CHECK(m.unattributed() == 0);
}

TEST_CASE("one that stays pending is unknown in the end", "[collectors.sole_owner]") {
  Owned m;
  m.counts(1, kA);
  m.kernel.count(m.qp, 5);
  m.ownership.verdict = kPending;
  m.passes(30);
  CHECK(m.sole() == 1);
  CHECK(m.unattributed() == 5);
  m.ownership.verdict = kA;
  m.passes(2);
  m.counts(3, kA);
  CHECK(m.sole() == 4);
  CHECK(m.unattributed() == 5);
}

TEST_CASE("a counter that could not be read once costs it that interval and nobody else's", "[collectors.sole_owner]") {
  Owned m;
  m.kernel.failing["port_counters"] = EIO;
  m.kernel.count(m.qp, 4);
  m.pass();
  m.kernel.failing.clear();
  m.passes(20);
  CHECK(m.sole() == 0);
  CHECK(m.unattributed() == 4);
  m.counts(3, kA);
  CHECK(m.sole() == 3);
}

TEST_CASE("a collector that is made anew begins anew", "[collectors.sole_owner]") {
  Owned m;
  m.counts(5, kA);
  m.kernel.count(m.qp, 4);
  m.hw_counters = kHwCounters.make(m.host, CounterMachine::kDeviceName);
  m.passes(3);
  CHECK(m.sole() == 5);
  CHECK(m.unattributed() == 4);
  m.counts(3, kA);
  CHECK(m.sole() == 8);
}

TEST_CASE("what sets count is theirs, the rest the owner's", "[collectors.sole_owner]") {
  Owned m({.qp_mode = "tenant"});
  m.settle();
  REQUIRE(m.kernel.qp(m.qp).set);
  m.counts(5, kA);
  m.counts(6, kA, 1);
  m.passes(3);
  CHECK(m.credited(kTenantA) == 5);
  CHECK(m.sole() == 0);
  CHECK(m.sole(kTenantA, "np_cnp_sent") == 6);
  CHECK(m.unattributed() == 0);
  CHECK(m.unattributed("np_cnp_sent") == 0);
}

TEST_CASE("nothing is credited twice when sets come and go", "[collectors.sole_owner]") {
  const double interval = GENERATE(1.0, 6.0, 12.0);
  Owned m({.qp_mode = "tenant"});
  const auto counted = [&] { return m.credited(kTenantA) + m.sole(); };
  std::uint64_t truth = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i) {
      m.kernel.count(m.qp, 5);
      truth += 5;
      m.pass(interval);
      CHECK(counted() <= truth);
    }
    // Everything is given back between two passes.
    m.kernel.count(m.qp, 7);
    truth += 7;
    while (!m.give_back()) {
    }
    CHECK_FALSE(m.kernel.qp(m.qp).set);
    m.saves = false;  // and stays so
    m.saved.clear();
    for (int i = 0; i < 30; ++i) {
      m.kernel.count(m.qp, 1);
      truth += 1;
      m.clock.pass(interval);
      m.read();
      CHECK(counted() <= truth);
    }
    for (int i = 0; i < 4; ++i) {
      m.clock.pass(interval);
      m.read();
    }
    CHECK(counted() + m.unattributed().value_or(0) == m.port_total());
    CHECK(m.sole() > 0);
    m.saves = true;
  }
}
