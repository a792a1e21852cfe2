// SPDX-License-Identifier: Apache-2.0
#include "counter_sets.h"

#include <catch2/catch.hpp>
#include <cerrno>

#include "support/counter_machine.h"

using namespace qpscope;
using namespace qpscope::test;
using Mode = NlCounterMode::Kind;

namespace {

constexpr PortNum kPort = CounterMachine::kPort;

TenantKey tenant(int number) { return {"t" + std::to_string(number), "w"}; }
CountersConfig with_sets(std::uint64_t most) { return {.qp_mode = "tenant", .max_sets = most}; }
std::size_t sets_of(const CounterMachine& m, const TenantKey& who) {
  return static_cast<std::size_t>(std::ranges::count_if(m.ledger.sets().sets(kPort), [&](const CounterSet* set) { return set->who == who; }));
}
int binds(CounterMachine& m) { return m.kernel.asked["bind_new"] + m.kernel.asked["bind"]; }

}  // namespace

// --- who is bound, and when

TEST_CASE("nothing is bound before the state file calls the port ours", "[daemon.counter_sets]") {
  CounterMachine m;
  const QpSerial qp = m.kernel.running(kTenantA);
  m.saves = false;
  m.passes(20);
  CHECK(m.status() == "waiting");
  CHECK(binds(m) == 0);
  CHECK(m.ledger.image().sets.managed.contains(kPort));
  m.saves = true;
  m.passes(2);
  CHECK(m.status() == "counting");
  CHECK(m.counted_as(qp) == kTenantA);
}

TEST_CASE("running queue pairs are taken, a new one with its INIT, each into its tenant's set", "[daemon.counter_sets]") {
  CounterMachine m;
  const QpSerial a1 = m.kernel.running(kTenantA), b = m.kernel.running(kTenantB), on_2 = m.kernel.running(kTenantA, 2);
  m.settle();
  const QpSerial a2 = m.kernel.create(kTenantA);
  m.pass();
  CHECK_FALSE(m.kernel.qp(a2).set);  // it has no port
  m.kernel.init(a2);
  m.act();
  CHECK(m.kernel.together_with(a1) == std::vector{a1, a2});
  CHECK(m.kernel.together_with(b) == std::vector{b});
  CHECK(m.kernel.together_with(on_2) == std::vector{on_2});
  CHECK(m.rebinds() == 0);
  m.kernel.count(a1, 3);
  m.kernel.count(a2, 4);
  m.kernel.count(b, 5);
  m.passes(2);
  CHECK(m.credited(kTenantA) == 7);
  CHECK(m.credited(kTenantB) == 5);
  CHECK(m.unattributed() == 0);
}

TEST_CASE("one whose tenant is not known is left alone, and moves when it turns out to be another", "[daemon.counter_sets]") {
  CounterMachine m;
  const QpSerial qp = m.kernel.running(std::nullopt);
  m.settle();
  CHECK_FALSE(m.kernel.qp(qp).set);
  m.kernel.belongs_to(qp, kTenantA);
  m.pass();
  m.kernel.count(qp, 3);
  m.kernel.belongs_to(qp, kTenantB);
  m.pass();
  CHECK(m.counted_as(qp) == kTenantB);
  CHECK(m.rebinds() == 1);
  m.kernel.count(qp, 4);
  m.passes(2);
  CHECK(m.credited(kTenantA) == 3);
  CHECK(m.credited(kTenantB) == 4);
  m.passes(40);
  CHECK(m.rebinds() == 1);
}

TEST_CASE("kernel queue pairs never share a set with users'", "[daemon.counter_sets]") {
  CounterMachine m;
  const QpSerial user = m.kernel.running(kTenantA), kernel = m.kernel.running(kTenantA, 1, true);
  m.settle();
  CHECK(m.kernel.together_with(user) == std::vector{user});
  CHECK(m.kernel.together_with(kernel) == std::vector{kernel});
}

TEST_CASE("more than 1,024 queue pairs of a tenant take a second set", "[daemon.counter_sets]") {
  CounterMachine m;
  for (int i = 0; i < 1030; ++i) m.kernel.running(kTenantA);
  m.passes(30);
  CHECK(sets_of(m, kTenantA) == 2);
  for (const auto& [id, set] : m.kernel.sets) CHECK(set.members <= 1024);
  CHECK(std::ranges::all_of(m.kernel.qps, [](const auto& entry) { return entry.second.set.has_value(); }));
}

// --- no set left

TEST_CASE("tenants that find no set share other/other, and get their own when there is room", "[daemon.counter_sets]") {
  CounterMachine m(with_sets(3));
  std::vector<QpSerial> qps;
  for (int i = 0; i < 5; ++i) qps.push_back(m.kernel.running(tenant(i)));
  m.settle();
  CHECK(m.kernel.sets.size() == 3);
  CHECK(m.kernel.together_with(qps[4]) == std::vector{qps[2], qps[3], qps[4]});
  CHECK(m.counted_as(qps[4]) == kOtherTenants);
  m.kernel.count(qps[3], 6);
  m.passes(2);
  CHECK(m.credited(kOtherTenants) == 6);
  CHECK(m.unattributed() == 0);
  m.kernel.destroy(qps[0]);
  m.passes(20);
  CHECK(m.kernel.sets.size() == 3);
  CHECK(m.counted_as(qps[2]) == tenant(2));  // promoted
  CHECK(m.counted_as(qps[3]) == kOtherTenants);
  CHECK(m.rebinds() == 1);
}

TEST_CASE("one set alone is other/other", "[daemon.counter_sets]") {
  CounterMachine m(with_sets(1));
  const QpSerial a = m.kernel.running(kTenantA), b = m.kernel.running(kTenantB);
  m.passes(40);
  CHECK(m.kernel.together_with(a) == std::vector{a, b});
  CHECK(m.counted_as(a) == kOtherTenants);
  CHECK(m.rebinds() == 0);
}

TEST_CASE("where the driver has no more sets, the quietest becomes other/other and keeps what it counted for its tenant", "[daemon.counter_sets]") {
  CounterMachine m;
  m.kernel.most_sets = 3;
  std::vector<QpSerial> qps;
  for (int i = 0; i < 3; ++i) qps.push_back(m.kernel.running(tenant(i)));
  m.settle();
  for (int i = 0; i < 30; ++i) {
    m.kernel.count(qps[0], 1);
    m.kernel.count(qps[2], 1);
    if (i == 0) m.kernel.count(qps[1], 9);
    m.pass();
  }
  m.kernel.count(qps[1], 2);  // not read yet
  const QpSerial late = m.kernel.running(tenant(3));
  m.act();
  CHECK(m.kernel.together_with(late) == std::vector{qps[1], late});
  CHECK(m.counted_as(late) == kOtherTenants);
  CHECK(m.credited(tenant(1)) == 11);
  m.kernel.count(late, 5);
  m.passes(2);
  CHECK(m.credited(tenant(1)) == 11);
  CHECK(m.credited(kOtherTenants) == 5);
  const int tried = m.kernel.asked["bind_new"];
  m.passes(30);
  CHECK(m.kernel.asked["bind_new"] == tried);  // it knows the limit
  m.kernel.most_sets = 255;
  m.passes(80);
  CHECK(m.counted_as(late) == tenant(3));
}

TEST_CASE("a set that died before it could become other/other is not taken for it", "[daemon.counter_sets]") {
  CounterMachine m;
  m.kernel.most_sets = 2;
  const QpSerial a = m.kernel.running(kTenantA), b = m.kernel.running(kTenantB);
  m.settle();
  for (int i = 0; i < 20; ++i) {
    m.kernel.count(b, 1);
    m.pass();
  }
  const QpSerial c = m.kernel.running(kTenantC);
  m.kernel.before = [&](const char* call) {
    if (call != std::string("counter_sets")) return;
    m.kernel.before = {};
    m.kernel.destroy(a);
  };
  m.act();
  m.passes(80);
  CHECK(m.counted_as(b) == kTenantB);
  CHECK(m.counted_as(c) == kTenantC);
}

TEST_CASE("while other/other is busy a quiet set's queue pairs join it, and one of the others gets the set", "[daemon.counter_sets]") {
  CounterMachine m(with_sets(3));
  std::vector<QpSerial> qps;
  for (int i = 0; i < 4; ++i) qps.push_back(m.kernel.running(tenant(i)));
  m.settle();
  REQUIRE(m.counted_as(qps[0]) == tenant(0));
  for (int i = 0; i < 110; ++i) {
    for (int busy = 1; busy < 4; ++busy) m.kernel.count(qps[static_cast<std::size_t>(busy)], 1);
    m.pass();
  }
  CHECK(m.counted_as(qps[0]) == kOtherTenants);
  CHECK(m.counted_as(qps[1]) == tenant(1));
  CHECK(m.counted_as(qps[2]) == tenant(2));
  CHECK(m.counted_as(qps[3]) == kOtherTenants);
  CHECK(m.rebinds() == 2);
}

TEST_CASE("an id that is used again is not as quiet as the set that had it", "[daemon.counter_sets]") {
  CounterMachine m(with_sets(3));
  std::vector<QpSerial> qps;
  for (int i = 0; i < 4; ++i) qps.push_back(m.kernel.running(tenant(i)));
  m.settle();
  // 55 s of silence of the first set; then it goes, and another tenant has its id before anybody looks.
  for (int i = 0; i < 55; ++i) {
    for (int busy = 1; busy < 4; ++busy) m.kernel.count(qps[static_cast<std::size_t>(busy)], 1);
    m.pass();
  }
  m.kernel.destroy(qps[0]);
  const QpSerial fresh = m.kernel.running(tenant(9));
  m.kernel.qps.at(qps[2]).told = m.kernel.qps.at(qps[3]).told = true;
  for (int i = 0; i < 14; ++i) {
    for (int busy = 1; busy < 4; ++busy) m.kernel.count(qps[static_cast<std::size_t>(busy)], 1);
    m.pass();
  }
  CHECK(m.rebinds() == 0);
  CHECK(m.counted_as(fresh) == tenant(9));
}

// --- where it cannot be

TEST_CASE("a driver without sets is found out by the first bind, and is not asked every round", "[daemon.counter_sets]") {
  CounterMachine m;
  m.kernel.supported = false;
  m.kernel.running(kTenantA);
  m.kernel.running(kTenantB);
  m.settle();
  CHECK(m.status() == "unsupported");
  CHECK(binds(m) == 1);
  m.passes(50);
  CHECK(binds(m) == 1);
  m.passes(20);
  CHECK(binds(m) == 2);
  m.passes(600);
  CHECK(binds(m) == 4);  // after 60, 120 and 240 s
  CHECK(m.kernel.ports[kPort].mode == Mode::none);
  m.kernel.supported = true;
  m.passes(1000);
  CHECK(m.status() == "counting");
  CHECK(m.kernel.sets.size() == 2);
}

TEST_CASE("without permission nothing is tried again and again", "[daemon.counter_sets]") {
  CounterMachine m;
  m.kernel.failing["bind_new"] = EPERM;
  m.kernel.running(kTenantA);
  m.passes(50);
  CHECK(m.status() == "refused");
  CHECK(binds(m) == 1);
}

TEST_CASE("a port in automatic mode is somebody else's", "[daemon.counter_sets]") {
  CounterMachine m;
  REQUIRE(m.kernel.automatic(kPort, true));
  m.kernel.running(kTenantA);
  m.passes(40);
  CHECK(m.status() == "automatic");
  CHECK(binds(m) == 0);
  CHECK_FALSE(m.ledger.sets().managed(kPort));
  CHECK(m.status("2") == "counting");
  m.kernel.destroy(m.kernel.qps.begin()->first);
  REQUIRE(m.kernel.automatic(kPort, false));
  const QpSerial qp = m.kernel.running(kTenantA);
  m.passes(10);
  CHECK(m.status() == "counting");
  CHECK(m.counted_as(qp) == kTenantA);
}

TEST_CASE("automatic mode that comes while nothing of ours is there: EINVAL, then left alone", "[daemon.counter_sets]") {
  CounterMachine m;
  m.settle();
  REQUIRE(m.kernel.automatic(kPort, true));
  m.kernel.running(kTenantA);
  m.act();
  m.act();
  CHECK(m.status() == "automatic");
  const int tried = binds(m);
  CHECK(tried <= 1);
  m.passes(40);
  CHECK(binds(m) == tried);
  CHECK(m.kernel.asked["unbind"] == 0);
}

TEST_CASE("a port with sets of others is left alone", "[daemon.counter_sets]") {
  CounterMachine m;
  const QpSerial theirs = m.kernel.running(kTenantA);
  REQUIRE(m.kernel.bind_new(kPort, m.kernel.qp(theirs).qpn));
  m.kernel.running(kTenantB);
  m.passes(40);
  CHECK(m.status() == "others");
  CHECK(binds(m) == 0);
  CHECK_FALSE(m.ledger.sets().managed(kPort));
}

TEST_CASE("others' sets beside ours stay theirs", "[daemon.counter_sets]") {
  CounterMachine m;
  const QpSerial ours = m.kernel.running(kTenantA);
  m.settle();
  const QpSerial theirs = m.kernel.running(kTenantA);
  const auto id = m.kernel.bind_new(kPort, m.kernel.qp(theirs).qpn);
  REQUIRE(id);
  m.passes(40);
  CHECK(m.kernel.qp(theirs).set == *id);
  CHECK(m.kernel.together_with(ours) == std::vector{ours});
  CHECK(m.status() == "counting");
  CHECK(m.kernel.asked["unbind"] == 0);
  const QpSerial next = m.kernel.running(kTenantB);
  m.passes(2);
  CHECK(m.counted_as(next) == kTenantB);  // a queue pair of others is no limit of the driver's
  while (!m.give_back()) m.clock.pass(1);
  CHECK(m.kernel.qp(theirs).set == *id);
  CHECK_FALSE(m.kernel.qp(ours).set);
}

TEST_CASE("a queue pair that another tool bound a moment ago is no limit of the driver's", "[daemon.counter_sets]") {
  CounterMachine m;
  const QpSerial a = m.kernel.running(kTenantA);
  m.settle();
  const QpSerial b = m.kernel.running(kTenantB), c = m.kernel.running(kTenantC);
  REQUIRE(m.kernel.bind_new(kPort, m.kernel.qp(b).qpn));
  m.act();
  m.passes(3);
  CHECK(m.counted_as(a) == kTenantA);
  CHECK(m.counted_as(c) == kTenantC);
}

// --- a number that is used again

TEST_CASE("a number that went to another before the bind is unbound again", "[daemon.counter_sets]") {
  const bool as_member = GENERATE(false, true);
  const bool in_reset = GENERATE(false, true);
  CounterMachine m;
  const QpSerial first = m.kernel.running(kTenantA);
  m.settle();
  const TenantKey whose = as_member ? kTenantA : kTenantB;
  const QpSerial decided = m.kernel.running(whose);
  QpSerial stranger{};
  m.kernel.before = [&](const char* call) {
    if (!std::string(call).starts_with("bind")) return;
    m.kernel.before = {};
    const Qpn number = m.kernel.qp(decided).qpn;
    m.kernel.destroy(decided);
    stranger = m.kernel.create(kTenantC, false, number.value);
    if (!in_reset) m.kernel.init(stranger);
  };
  m.act();
  CHECK_FALSE(m.kernel.qp(stranger).set);
  if (in_reset) m.kernel.init(stranger);
  m.kernel.count(stranger, 5);
  m.passes(20);
  CHECK(m.counted_as(stranger) == kTenantC);
  CHECK(m.counted_as(first) == kTenantA);
  CHECK(m.credited(whose) == 0);
  CHECK(m.unattributed() == 5);
}

TEST_CASE("the new holder's own bind is not taken for a stranger's", "[daemon.counter_sets]") {
  CounterMachine m;
  m.kernel.running(kTenantA);
  m.settle();
  const QpSerial decided = m.kernel.running(kTenantA), other = m.kernel.running(kTenantB);
  const Qpn number = m.kernel.qp(decided).qpn;
  QpSerial next{};
  bool bound_once = false;
  // The first dies after its bind, and another of the tenant has the number before the round is over.
  m.kernel.before = [&](const char* call) {
    if (!std::string(call).starts_with("bind")) return;
    if (!std::exchange(bound_once, true)) return;
    m.kernel.before = {};
    m.kernel.destroy(decided);
    next = m.kernel.running(kTenantA);
  };
  m.act();
  REQUIRE(m.kernel.qp(next).qpn == number);
  m.act();
  CHECK(m.counted_as(next) == kTenantA);
  CHECK(m.counted_as(other) == kTenantB);
  m.passes(20);
  CHECK(m.counted_as(next) == kTenantA);
}

// --- the budget

TEST_CASE("a round costs no more commands than there is room for", "[daemon.counter_sets]") {
  CounterMachine m;
  m.budget = std::make_unique<CommandBudget>(100);
  m.kernel.running(kTenantA);
  m.settle();
  for (int i = 0; i < 30; ++i) m.kernel.running(tenant(i));
  for (int i = 0; i < 200; ++i) m.kernel.running(tenant(i % 30));
  m.clock.pass(2);
  for (int i = 0; i < 20; ++i) {
    const std::size_t room = m.budget->room(CommandBudget::Use::sets, m.clock.now());
    const std::uint64_t before = m.budget->spent();
    m.act();
    CHECK(m.budget->spent() - before <= std::max<std::size_t>(room, 3));
    m.clock.pass(0.5);
  }
  m.passes(40);
  CHECK(std::ranges::all_of(m.kernel.qps, [](const auto& entry) { return entry.second.set.has_value(); }));
}

TEST_CASE("sets are given back as far as the budget has room, and to the end", "[daemon.counter_sets]") {
  CounterMachine m;
  for (int i = 0; i < 200; ++i) m.kernel.running(tenant(i % 10));
  m.passes(6);
  m.budget = std::make_unique<CommandBudget>(100);
  m.clock.pass(10);
  const std::size_t room = m.budget->room(CommandBudget::Use::sets, m.clock.now());
  CHECK_FALSE(m.give_back());
  CHECK(m.budget->spent() == room);
  int rounds = 0;
  while (!m.give_back() && ++rounds < 1000) m.clock.pass(0.05);
  CHECK(rounds < 400);
  CHECK(m.kernel.sets.empty());
  CHECK(m.kernel.ports[kPort].mode == Mode::none);
  CHECK(m.ledger.image().sets == SetImage{});
}

// --- the brake

TEST_CASE("while commands are slow everything is given back, and taken again later", "[daemon.counter_sets]") {
  CounterMachine m;
  const QpSerial qp = m.kernel.running(kTenantA);
  m.settle();
  m.kernel.count(qp, 7);
  for (int i = 0; i < 8; ++i) m.sets->commands_took(i < 4 ? 0.2 : 0.001);
  m.pass();
  CHECK(m.kernel.qp(qp).set);  // half of them is not most
  for (int i = 0; i < 8; ++i) m.sets->commands_took(0.2);
  m.passes(3);
  CHECK(m.status() == "slow");
  CHECK_FALSE(m.kernel.qp(qp).set);
  CHECK(m.kernel.ports[kPort].mode == Mode::none);
  CHECK(m.credited(kTenantA) == 7);
  m.kernel.count(qp, 2);
  m.passes(590);
  CHECK(m.status() == "slow");
  CHECK(m.unattributed() == 2);
  m.passes(15);
  CHECK(m.status() == "counting");
  CHECK(m.counted_as(qp) == kTenantA);
  CHECK(m.credited(kTenantA) == 7);
}

// --- focus

TEST_CASE("focus: a set of its own for a while, and its tenant's all the same", "[daemon.counter_sets]") {
  CounterMachine m;
  const QpSerial one = m.kernel.running(kTenantA), two = m.kernel.running(kTenantA);
  m.settle();
  REQUIRE(m.sets->focus_on(m.kernel.qp(one).qpn, 30));
  m.act();
  CHECK(m.kernel.together_with(one) == std::vector{one});
  CHECK(m.focused() == 1);
  CHECK(m.rebinds() == 1);
  m.kernel.count(one, 5);
  m.kernel.count(two, 2);
  m.passes(2);
  CHECK(m.credited(kTenantA) == 7);
  REQUIRE(m.qp_counters.size() == 1);  // the other was not always alone
  CHECK(m.qp_counters[0].totals[0] == std::pair<std::string, std::uint64_t>("out_of_sequence", 5));
  m.passes(18);
  REQUIRE(m.sets->focus_on(m.kernel.qp(one).qpn, 30));  // longer
  m.passes(20);
  CHECK(m.focused() == 1);
  CHECK(m.rebinds() == 1);
  const QpSerial three = m.kernel.running(kTenantA);
  m.act();
  CHECK(m.kernel.together_with(three) == std::vector{two, three});
  m.passes(15);
  CHECK(m.focused() == 0);
  CHECK(m.kernel.together_with(one).size() == 3);
  CHECK(m.rebinds() == 2);
  CHECK(m.credited(kTenantA) == 7);
  CHECK(m.kernel.sets.size() == 1);
}

TEST_CASE("focus: not without room, an owner, or the mode; and not for one that is gone", "[daemon.counter_sets]") {
  CounterMachine m(with_sets(2));
  const QpSerial a = m.kernel.running(kTenantA), b = m.kernel.running(kTenantB), nobody = m.kernel.running(std::nullopt);
  m.settle();
  REQUIRE(m.sets->focus_on(m.kernel.qp(a).qpn, 30));
  REQUIRE(m.sets->focus_on(m.kernel.qp(nobody).qpn, 30));
  REQUIRE(m.sets->focus_on(Qpn{4711}, 30));
  m.pass();
  CHECK(m.focused() == 0);
  CHECK(m.counted_as(a) == kTenantA);
  CHECK(m.counted_as(b) == kOtherTenants);
  CHECK(m.rebinds() == 0);
  for (int i = 0; i < 16; ++i) CHECK(m.sets->focus_on(Qpn{4711}, 30));
  CHECK(m.sets->focus_on(Qpn{4711}, 30).error().code == ErrorCode::limit);

  CounterMachine leave(CountersConfig{});
  leave.pass();
  CHECK(leave.sets->focus_on(Qpn{1}, 30).error().code == ErrorCode::unsupported);
}

TEST_CASE("focus: one that dies is forgotten", "[daemon.counter_sets]") {
  CounterMachine m;
  const QpSerial a = m.kernel.running(kTenantA);
  m.kernel.running(kTenantA);
  m.settle();
  REQUIRE(m.sets->focus_on(m.kernel.qp(a).qpn, 30));
  m.pass();
  m.kernel.count(a, 3);
  m.kernel.destroy(a);
  m.passes(2);
  CHECK(m.focused() == 0);
  CHECK(m.credited(kTenantA) == 3);
}

TEST_CASE("focus: the driver has no more sets: back to its tenant's", "[daemon.counter_sets]") {
  CounterMachine m;
  m.kernel.most_sets = 1;
  const QpSerial a = m.kernel.running(kTenantA), a2 = m.kernel.running(kTenantA);
  m.settle();
  REQUIRE(m.sets->focus_on(m.kernel.qp(a).qpn, 30));
  m.pass();
  CHECK(m.focused() == 0);
  CHECK(m.kernel.together_with(a) == std::vector{a, a2});
}

TEST_CASE("focus: a tenant that turns out to be another is credited from then on", "[daemon.counter_sets]") {
  CounterMachine m;
  const QpSerial a = m.kernel.running(kTenantA);
  m.kernel.running(kTenantA);
  m.settle();
  REQUIRE(m.sets->focus_on(m.kernel.qp(a).qpn, 30));
  m.pass();
  m.kernel.count(a, 3);
  m.pass();
  m.kernel.belongs_to(a, kTenantB);
  m.pass();
  m.kernel.count(a, 4);
  m.passes(2);
  CHECK(m.credited(kTenantA) == 3);
  CHECK(m.credited(kTenantB) == 4);
  CHECK(m.focused() == 1);
}

TEST_CASE("suspects are focused by themselves, one after the other", "[daemon.counter_sets]") {
  CounterMachine m(CountersConfig{.qp_mode = "tenant", .qp_focus = 1, .focus_time = 20});
  std::vector<QpSerial> qps;
  for (int i = 0; i < 4; ++i) qps.push_back(m.kernel.running(kTenantA));
  for (int i = 0; i < 4; ++i) m.kernel.running(kTenantB);
  m.settle();
  std::set<QpSerial> seen;
  for (int i = 0; i < 200; ++i) {
    for (const QpSerial qp : qps) m.kernel.count(qp, 1);
    m.pass();
    CHECK(m.focused() <= 1);
    for (const QpSerial qp : qps) {
      if (m.kernel.together_with(qp).size() == 1) seen.insert(qp);
    }
  }
  CHECK(seen.size() == 4);
}

TEST_CASE("a suspect whose number went to another is unbound in the same round", "[daemon.counter_sets]") {
  CounterMachine m(CountersConfig{.qp_mode = "tenant", .qp_focus = 1});
  const QpSerial a = m.kernel.running(kTenantA), a2 = m.kernel.running(kTenantA);
  m.settle();
  std::optional<QpSerial> stranger;
  m.kernel.before = [&](const char* call) {
    if (call != std::string("bind_new")) return;
    m.kernel.before = {};
    const QpSerial suspect = m.kernel.qp(a).set ? a2 : a;
    const Qpn number = m.kernel.qp(suspect).qpn;
    m.kernel.destroy(suspect);
    stranger = m.kernel.create(kTenantC, false, number.value);
  };
  for (int i = 0; i < 30 && !stranger; ++i) {
    m.kernel.count(a, 1);
    m.pass();
  }
  REQUIRE(stranger);
  CHECK_FALSE(m.kernel.qp(*stranger).set);
}

// --- restarts and ends

TEST_CASE("sets of an earlier run are taken over", "[daemon.counter_sets]") {
  CounterMachine m;
  QpSerial a = m.kernel.running(kTenantA);
  m.settle();
  m.kernel.count(a, 5);
  m.pass();
  const LedgerImage image = m.ledger.image();
  m.kernel.count(a, 2);
  m.kernel.restart();
  m.start(image);
  a = m.kernel.qps.begin()->first;
  m.settle();
  CHECK(m.credited(kTenantA) == 7);
  CHECK(m.unattributed() == 0);
  CHECK(m.rebinds() == 0);
  const QpSerial a2 = m.kernel.running(kTenantA);
  m.pass();
  CHECK(m.kernel.together_with(a).size() == 2);
  CHECK(m.kernel.together_with(a2).size() == 2);
}

TEST_CASE("what an earlier run left is given back in mode leave, members that nobody knew of too", "[daemon.counter_sets]") {
  CounterMachine m;
  m.kernel.running(kTenantA);
  m.settle();
  const LedgerImage image = m.ledger.image();
  for (int i = 0; i < 3; ++i) m.kernel.running(i == 0 ? kTenantA : kTenantB);  // bound after the state file was written
  m.act();
  m.kernel.restart();
  m.config.qp_mode = "leave";
  m.start(image);
  m.passes(3);
  CHECK(m.kernel.sets.empty());
  CHECK(m.kernel.ports[kPort].mode == Mode::none);
  CHECK(m.ledger.image().sets == SetImage{});
  CHECK(m.rebinds() == -1);  // no status: nothing is done here
  const int asked = m.kernel.asked["unbind"];
  m.passes(20);
  CHECK(m.kernel.asked["unbind"] == asked);
}

TEST_CASE("an id that was used again by us after the state file was written is still ours", "[daemon.counter_sets]") {
  CounterMachine m;
  const QpSerial a = m.kernel.running(kTenantA);
  m.settle();
  m.kernel.count(a, 1000);
  m.pass();
  const LedgerImage image = m.ledger.image();
  m.kernel.destroy(a);
  const QpSerial b = m.kernel.running(kTenantB);
  m.pass();
  m.kernel.count(b, GENERATE(3, 2000));
  m.kernel.restart();
  m.start(image);
  m.settle();
  CHECK(m.credited(kTenantA) == 1000);
  while (!m.give_back()) m.clock.pass(1);
  CHECK(m.kernel.sets.empty());
}

TEST_CASE("automatic sets are never ours, whatever the state file says of the port", "[daemon.counter_sets]") {
  CounterMachine m;
  m.settle();
  const LedgerImage image = m.ledger.image();
  REQUIRE(image.sets.managed.contains(kPort));
  REQUIRE(m.kernel.automatic(kPort, true));
  m.kernel.running(kTenantA);
  m.kernel.restart();
  m.config.qp_mode = GENERATE(as<std::string>(), "leave", "tenant");
  m.start(image);
  m.passes(20);
  int rounds = 0;
  while (!m.give_back() && ++rounds < 10) m.clock.pass(1);
  CHECK(rounds < 10);
  CHECK(m.kernel.sets.size() == 1);
  CHECK(m.kernel.asked["unbind"] == 0);
}

TEST_CASE("a device that goes away in the middle does no harm", "[daemon.counter_sets]") {
  CounterMachine m;
  const QpSerial a = m.kernel.running(kTenantA);
  m.settle();
  m.kernel.count(a, 4);
  m.pass();
  const auto gone = [&] {
    for (const char* call : {"counter_mode", "counter_sets", "bind_new", "bind", "unbind", "port_counters"}) m.kernel.failing[call] = ENODEV;
  };
  m.kernel.running(kTenantA);
  m.kernel.running(kTenantB);
  m.kernel.before = [&](const char* call) {
    if (std::string(call).starts_with("bind")) gone();
  };
  m.act();
  m.passes(30);
  CHECK(binds(m) <= 3);
  CHECK_FALSE(m.give_back());
  CHECK(m.credited(kTenantA) == 4);
  CHECK(m.ledger.image().sets.managed.contains(kPort));
}

TEST_CASE("without permission to give back nothing is tried without end", "[daemon.counter_sets]") {
  CounterMachine m;
  for (int i = 0; i < 40; ++i) m.kernel.running(kTenantA);
  m.settle();
  m.kernel.failing["unbind"] = EPERM;
  const int before = m.kernel.asked["unbind"];
  CHECK_FALSE(m.give_back());
  CHECK(m.kernel.asked["unbind"] - before <= 1);
  CHECK(m.ledger.image().sets.managed.contains(kPort));
}
