// SPDX-License-Identifier: Apache-2.0
#include "core/incident_triggers.h"

#include <catch2/catch.hpp>

#include "support/made_incident.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

using Kind = Trigger::Kind;
using How = QpEnding::How;

SharedEvent port_event(BootTime at, Severity severity) {
  auto out = std::make_shared<HistoryEvent>();
  out->at = at;
  out->kind = HistoryKind::port_state;
  out->severity = severity;
  out->device = "mlx5_0";
  out->port = {1};
  out->message = "mlx5_0 port 1 went from ACTIVE to DOWN";
  return out;
}

}  // namespace

TEST_CASE("queue pairs that hardware gave up are deaths", "[core.incident_triggers]") {
  MadeHost host;
  IncidentTriggers triggers({});
  host.pass();
  host.endings.add(How::found_in_error, host.qp(1, 1), host.now());
  host.pass();
  CHECK(host.look(triggers).empty());  // one is one
  host.endings.add(How::found_in_error, host.qp(2, 1), host.now());
  host.pass();
  const auto told = host.look(triggers);
  REQUIRE(told.size() == 1);
  CHECK(told[0].kind == Kind::queue_pair_deaths);
  CHECK(told[0].device == "mlx5_0");
  CHECK(told[0].port == PortNum{1});
  CHECK(told[0].workload == "4711");
  CHECK(told[0].message.starts_with("2 queue pairs on mlx5_0/1 ended within 10 s"));
  host.endings.add(How::found_in_error, host.qp(3, 1), host.now());
  host.pass();
  CHECK(host.look(triggers).empty());  // that is the same thing
}

TEST_CASE("deaths that are ten seconds apart are no burst", "[core.incident_triggers]") {
  MadeHost host;
  IncidentTriggers triggers({});
  for (std::uint32_t i = 0; i < 5; ++i) {
    host.endings.add(How::found_in_error, host.qp(i, 1), host.now());
    host.pass_many(11, 0);
    CHECK(host.look(triggers).empty());
  }
}

TEST_CASE("a job that ends by itself is no incident, one that ends while its work requests fail is", "[core.incident_triggers]") {
  const bool failing = GENERATE(false, true);
  MadeHost host;
  IncidentTriggers triggers({});
  host.pass();
  for (std::uint32_t i = 0; i < 64; ++i) host.endings.add(How::destroyed, host.qp(i, 1), host.now());
  host.pass();
  CHECK(host.look(triggers).empty());
  if (failing) host.errors += 1;  // counters are read later than events come
  host.pass();
  CHECK(host.look(triggers).size() == (failing ? 1 : 0));
}

TEST_CASE("a link that goes down is told, one that comes up is not", "[core.incident_triggers]") {
  MadeHost host;
  IncidentTriggers triggers({});
  host.pass();
  CHECK(host.look(triggers, {port_event(host.now(), Severity::info)}).empty());
  const auto told = host.look(triggers, {port_event(host.now(), Severity::error)});
  REQUIRE(told.size() == 1);
  CHECK(told[0].kind == Kind::link_down);
  // One that flaps is told again after a while.
  CHECK(host.look(triggers, {port_event(host.now(), Severity::error)}).empty());
  host.pass_many(601, 0);
  CHECK(host.look(triggers, {port_event(host.now(), Severity::error)}).size() == 1);
}

TEST_CASE("a firmware that does not answer", "[core.incident_triggers]") {
  MadeHost host;
  IncidentTriggers triggers({});
  host.pass();
  CHECK(host.look(triggers, {}, {{"mlx5_0", 9.9}}).empty());
  const auto told = host.look(triggers, {}, {{"mlx5_0", 10}});
  REQUIRE(told.size() == 1);
  CHECK(told[0].kind == Kind::firmware_stall);
  CHECK(told[0].device == "mlx5_0");
}

TEST_CASE("a workload that stops moving data though its queue pairs are in RTS", "[core.incident_triggers]") {
  MadeHost host;
  IncidentTriggers triggers({.deaths = 2, .stall_seconds = 30, .silent_seconds = 10});
  host.queue_pairs = {host.qp(1, 1), host.qp(2, 1)};
  std::vector<Trigger> told;
  const auto pass = [&](std::size_t seconds, double sent) {
    for (std::size_t i = 0; i < seconds; ++i) {
      host.pass(sent);
      const auto now = host.look(triggers);
      told.insert(told.end(), now.begin(), now.end());
    }
  };
  pass(120, 1e8);
  SECTION("is stalled") {
    pass(30, 1e4);
    CHECK(told.empty());
    pass(1, 1e4);
    REQUIRE(told.size() == 1);
    CHECK(told[0].kind == Kind::workload_stall);
    CHECK(told[0].workload == "4711");
    pass(1000, 0);
    CHECK(told.size() == 1);  // once, however long
    pass(5, 1e8);
    pass(31, 0);
    CHECK(told.size() == 2);
  }
  SECTION("slower is not stalled") {
    pass(300, 2e6);
    CHECK(told.empty());
  }
  SECTION("a pause is not") {
    for (int i = 0; i < 10; ++i) {
      pass(29, 0);
      pass(2, 1e8);
    }
    CHECK(told.empty());
  }
  SECTION("one that has closed its queue pairs is done") {
    host.queue_pairs.clear();
    pass(100, 0);
    CHECK(told.empty());
  }
}

TEST_CASE("what never moved much cannot stall, nor what is new", "[core.incident_triggers]") {
  const auto [seconds, sent] = GENERATE(std::pair<std::size_t, double>(300, 9e5), std::pair<std::size_t, double>(50, 1e8));
  MadeHost host;
  IncidentTriggers triggers({});
  host.queue_pairs = {host.qp(1, 1)};
  for (std::size_t i = 0; i < seconds; ++i) {
    host.pass(sent);
    CHECK(host.look(triggers).empty());
  }
  for (int i = 0; i < 8; ++i) {
    host.pass();
    CHECK(host.look(triggers).empty());
  }
}

TEST_CASE("each trigger can be off", "[core.incident_triggers]") {
  MadeHost host;
  IncidentTriggers triggers({.deaths = 0, .stall_seconds = 0, .silent_seconds = 0});
  host.queue_pairs = {host.qp(1, 1)};
  host.pass_many(120, 1e8);
  for (std::uint32_t i = 0; i < 9; ++i) host.endings.add(How::found_in_error, host.qp(i, 1), host.now());
  for (int i = 0; i < 100; ++i) {
    host.pass();
    CHECK(host.look(triggers, {}, {{"mlx5_0", 1000}}).empty());
  }
}

TEST_CASE("the first to end is the first when it began, on the port that it is about", "[core.incident_triggers]") {
  MadeHost host;
  const Incident incident = host.killed();
  REQUIRE(incident.triggers.size() == 1);
  const QpEnding* const first = first_to_end(incident);
  REQUIRE(first);
  CHECK(first->qp.qpn == Qpn{3});
  CHECK(first->how == How::found_in_error);
  Incident other = incident;
  other.triggers[0].port = {2};
  CHECK_FALSE(first_to_end(other));
}
