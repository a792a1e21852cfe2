// SPDX-License-Identifier: Apache-2.0
// What is said of counter sets and of the tenants that count in them.
#include <catch2/catch.hpp>
#include <cerrno>

#include "support/counter_machine.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

constexpr PortNum kPort = CounterMachine::kPort;

// Only looks: what others have set up.
struct Onlooker : CounterMachine {
  Onlooker() : CounterMachine(CountersConfig{}) { start(); }
  QpSerial in_set(const TenantKey& who) {
    const QpSerial qp = kernel.running(who);
    REQUIRE(kernel.bind_new(kPort, kernel.qp(qp).qpn));
    return qp;
  }
  double sample_of(const std::string& family, const std::vector<std::string>& labels) const { return value(family, labels, samples); }
};

}  // namespace

TEST_CASE("sets and their tenants as samples, and the balance of the port", "[collectors.qp_statistics]") {
  CounterMachine m;
  const QpSerial a = m.kernel.running(kTenantA), a2 = m.kernel.running(kTenantA), b = m.kernel.running(kTenantB), nobody = m.kernel.running(std::nullopt);
  m.settle();
  m.kernel.count(a, 3);
  m.kernel.count(a2, 4);
  m.kernel.count(b, 5, 2);
  m.kernel.count(nobody, 6);
  m.kernel.count(b, 9, 1);  // sets do not count this one
  m.passes(2);
  const auto value = [&](const std::string& family, const std::vector<std::string>& labels) { return m.value(family, labels, m.samples); };
  CHECK(value("qpscope_counter_sets", {"mlx5_0", "1", "self"}) == 2);
  CHECK(value("qpscope_counter_sets", {"mlx5_0", "1", "others"}) == 0);
  CHECK(value("qpscope_port_counted_qps_ratio", {"mlx5_0", "1"}) == 0.75);
  CHECK(value("qpscope_counter_sets_last_word_missed_total", {"mlx5_0"}) == 0);
  CHECK(value("qpscope_tenant_rx_out_of_sequence_packets_total", {"a", "1", "mlx5_0", "1", "set"}) == 7);
  CHECK(value("qpscope_tenant_rx_out_of_sequence_packets_total", {"b", "1", "mlx5_0", "1", "set"}) == 0);
  CHECK(value("qpscope_port_unattributed_rx_out_of_sequence_packets_total", {"mlx5_0", "1"}) == 6);
  CHECK(m.credited(kTenantB, "packet_seq_err") == 5);
  CHECK(m.credited(kTenantB, "np_cnp_sent") == 0);
  CHECK(m.unattributed("np_cnp_sent") == 9);
}

TEST_CASE("a queue pair has counters of its own only while it is alone", "[collectors.qp_statistics]") {
  Onlooker m;
  const QpSerial a = m.in_set(kTenantA), b = m.in_set(kTenantB), b2 = m.kernel.running(kTenantB);
  REQUIRE(m.kernel.bind(kPort, m.kernel.qp(b2).qpn, *m.kernel.qp(b).set));
  m.kernel.count(a, 3);
  m.kernel.count(b, 3);
  m.pass();
  REQUIRE(m.qp_counters.size() == 1);
  CHECK(m.qp_counters[0].key.serial == a);
  CHECK(m.qp_counters[0].totals == std::vector<std::pair<std::string, std::uint64_t>>{{"out_of_sequence", 3}, {"packet_seq_err", 0}});
  const BootTime moved = m.qp_counters[0].moved;
  m.pass();
  CHECK(m.qp_counters[0].moved == moved);
  m.kernel.count(a, 1);
  m.pass();
  CHECK(m.qp_counters[0].moved > moved);
  m.kernel.destroy(b2);
  const QpSerial a2 = m.kernel.running(kTenantA);
  REQUIRE(m.kernel.bind(kPort, m.kernel.qp(a2).qpn, *m.kernel.qp(a).set));
  m.pass();
  CHECK(m.qp_counters.empty());  // one was not alone before, the other is not now
}

TEST_CASE("automatic sets of others are credited to the tenants of their members", "[collectors.qp_statistics]") {
  Onlooker m;
  m.pass();
  REQUIRE(m.kernel.automatic(kPort, true));
  const QpSerial a = m.kernel.create(kTenantA), b = m.kernel.create(kTenantB);
  m.kernel.qps.at(a).tid = {7};
  m.kernel.qps.at(b).tid = {8};
  m.kernel.init(a);
  m.kernel.init(b);
  m.kernel.count(a, 3);
  m.kernel.count(b, 4);
  m.pass();
  m.kernel.count(a, 2);
  m.passes(2);
  CHECK(m.credited(kTenantA) == 5);
  CHECK(m.credited(kTenantB) == 4);
  CHECK(m.unattributed() == 0);
  CHECK(m.sample_of("qpscope_counter_sets", {"mlx5_0", "1", "others"}) == 2);
  CHECK(m.kernel.asked["unbind"] == 0);
}

TEST_CASE("a dump that breaks off leaves every total as it is", "[collectors.qp_statistics]") {
  Onlooker m;
  m.pass();
  const QpSerial a = m.in_set(kTenantA), b = m.in_set(kTenantB);
  m.kernel.count(a, 3);
  m.kernel.count(b, 4);
  m.passes(2);
  REQUIRE(m.credited(kTenantB) == 4);
  m.kernel.dump_breaks_off = 1;
  for (int i = 0; i < 10; ++i) {
    m.kernel.count(b, 1);
    m.pass();
  }
  CHECK(m.credited(kTenantB) == 4);
  CHECK(m.unattributed() == 0);  // what was not read is not nobody's
  CHECK(m.errors.counts().begin()->first.source == "counter_sets");
  m.kernel.dump_breaks_off.reset();
  m.passes(2);
  CHECK(m.credited(kTenantB) == 14);
  CHECK(m.unattributed() == 0);
}

TEST_CASE("while netlink fails nothing is said to be nobody's", "[collectors.qp_statistics]") {
  const std::string call = GENERATE("counter_mode", "counter_sets");
  Onlooker m;
  m.pass();
  const QpSerial a = m.in_set(kTenantA);
  m.kernel.count(a, 3);
  m.passes(2);
  m.kernel.failing[call] = EIO;
  for (int i = 0; i < 10; ++i) {
    m.kernel.count(a, 1);
    m.pass();
  }
  CHECK(m.unattributed() == 0);
  m.kernel.failing.clear();
  m.passes(20);
  CHECK(m.credited(kTenantA) == 13);
  CHECK(m.unattributed() == 0);
}

TEST_CASE("what came between the reading of the port and that of its sets is never nobody's", "[collectors.qp_statistics]") {
  Onlooker m;
  m.pass();
  const QpSerial a = m.in_set(kTenantA);
  const auto during = [&](const char* call) {
    if (call == std::string("counter_sets") || call == std::string("port_counters")) m.kernel.count(a, 1);
  };
  m.kernel.before = during;
  m.passes(30);
  CHECK(m.unattributed() == 0);
  CHECK(m.credited(kTenantA) >= 55);
  m.kernel.before = {};
  m.kernel.destroy(a);
  m.passes(12);
  CHECK(m.unattributed() == 0);
  CHECK(m.credited(kTenantA) == m.port_total());
}

TEST_CASE("a set whose last word was lost leaves the rest to nobody, and is counted", "[collectors.qp_statistics]") {
  Onlooker m;
  m.pass();
  const QpSerial a = m.in_set(kTenantA);
  m.kernel.count(a, 3);
  m.passes(2);
  m.kernel.count(a, 2);
  m.kernel.lose_releases = true;
  m.kernel.destroy(a);
  m.passes(10);
  CHECK(m.credited(kTenantA) == 3);
  CHECK(m.unattributed() == 2);
  CHECK(m.sample_of("qpscope_counter_sets_last_word_missed_total", {"mlx5_0"}) == 1);
}

TEST_CASE("after a restart sets are read when the tenants of their members are known, or after a while", "[collectors.qp_statistics]") {
  CounterMachine m;
  const QpSerial a = m.kernel.running(kTenantA);
  m.settle();
  const LedgerImage image = m.ledger.image();
  m.kernel.count(a, 3);
  m.kernel.restart();
  m.kernel.known = false;
  m.start(image);
  m.passes(25);
  CHECK(m.status() == "waiting");
  CHECK(m.kernel.sets.size() == 1);
  CHECK(m.unattributed() == 0);
  m.passes(10);
  CHECK(m.status() == "counting");
  CHECK(m.credited(kTenantA) == 3);
}
