// SPDX-License-Identifier: Apache-2.0
#include "reconcilers.h"

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <deque>
#include <random>

#include "support/fake_clock.h"
#include "support/fake_qp_source.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

// A kernel, a ring of events not read yet, the table and its reconciler.
struct Bench {
  FakeClock clock;
  FakeQpSource kernel;
  QpTable table{10000};
  std::mutex mutex;
  SelfCheck self_check{true};
  bool events = true;
  std::deque<std::function<void()>> ring;
  std::uint64_t serial = 0, lost = 0;
  std::map<std::string, std::shared_ptr<CommandBudget>> budgets;
  std::string unwatched;
  Suspicions suspicions;
  struct Dead {
    std::string device;
    std::uint32_t qpn;
    double waited;  // since the suspicion; -1: there was none
  };
  std::vector<Dead> dead;
  Reconcilers reconcilers;

  explicit Bench(ReconcileOptions options = {.interval_seconds = 600, .blind_interval_seconds = 15, .polls_per_tick = 4}, double per_second = 0)
      : reconcilers(table, mutex, self_check, options,
                    {.now = clock.fn(),
                     .drain = [this] { drain(); },
                     .attribute = [](const QpRow& one) { return std::pair(owner_of_thread(one.tid.value), TenantId{1}); },
                     .events_on = [this] { return events; },
                     .events_lost = [this] { return lost; },
                     .suspicions = [this](const std::string& device) { return suspicions.take(device); },
                     .found_dead =
                         [this](const std::string& device, const QpRecord& before, BootTime asked, std::optional<BootTime> suspected) {
                           dead.push_back({device, before.qpn.value, suspected ? seconds(asked, *suspected) : -1});
                         }},
                    {.source = [this] { return kernel.session(); },
                     .watched = [this](const std::string& device) { return device != unwatched; },
                     .budget =
                         [this, per_second](const std::string& device) {
                           auto& budget = budgets[device];
                           if (!budget) budget = std::make_shared<CommandBudget>(per_second);
                           return budget;
                         },
                     .ticked = [] {}}) {
    kernel.names[kDev] = "mlx5_0";
  }

  void drain() {
    const std::lock_guard lock(mutex);
    for (; !ring.empty(); ring.pop_front()) ring.front()();
  }
  std::uint64_t now() { return clock.fn()().value; }
  Who make(std::uint32_t qpn) {
    const Who who{.serial = ++serial, .qpn = qpn, .port = 1};
    kernel.rows[kDev].push_back(row(qpn, QpState::reset));
    if (events) ring.push_back([this, who, at = now()] { create(table, who, at); });
    return who;
  }
  void end(const Who& who) {
    kernel.erase(kDev, who.qpn);
    if (events) ring.push_back([this, who, at = now()] { destroy(table, who, at); });
  }
  Result<> tick(double seconds = 1) {
    clock.pass(seconds);
    return reconcilers.pass();
  }
  void ticks(int n) {
    for (int i = 0; i < n; ++i) CHECK(tick());
  }
  std::uint64_t drift() const { return table.totals().drift_kernel_only + table.totals().drift_table_only; }
};

}  // namespace

TEST_CASE("seed: one dump when the device appears, then none", "[daemon.reconciler]") {
  Bench b;
  for (std::uint32_t qpn = 1; qpn <= 30; ++qpn) b.kernel.rows[kDev].push_back(row(qpn));
  b.kernel.names[kOtherDev] = "mlx5_1";
  CHECK(b.tick());
  CHECK(b.kernel.dumps == 2);
  CHECK(b.table.size() == 30);
  CHECK(of(b.table.totals().seeded) == 30);
  CHECK(b.table.all()[0].tenant == 1);
  CHECK(b.reconcilers.devices() == std::map<DeviceIndex, std::string>{{kDev, "mlx5_0"}, {kOtherDev, "mlx5_1"}});
  CHECK(b.budgets.at("mlx5_0")->spent() == 30);
  CHECK(b.reconcilers.seeded());
  b.ticks(100);
  CHECK(b.kernel.dumps == 2);
  CHECK(b.drift() == 0);
  CHECK(b.budgets.at("mlx5_0")->spent() == 30 + 100 * 4);
  CHECK(b.budgets.at("mlx5_1")->spent() == 0);
}

TEST_CASE("a queue pair that dies while the seed dump runs stays dead", "[daemon.reconciler]") {
  Bench b;
  const Who old = b.make(17);
  b.ring.clear();  // older than the probes
  b.kernel.during_dump = [&] { b.end({.serial = 0, .qpn = old.qpn}); };
  CHECK(b.tick());
  CHECK(b.table.size() == 0);
}

TEST_CASE("churn whose events arrive late is no drift and costs no dump", "[daemon.reconciler]") {
  Bench b;
  std::mt19937 random(5);
  std::vector<Who> alive;
  for (std::uint32_t qpn = 1; qpn <= 50; ++qpn) alive.push_back(b.make(qpn));
  CHECK(b.tick());
  std::uint32_t next = 100;
  for (int tick = 0; tick < 700; ++tick) {
    for (int i = 0; i < 5; ++i) {
      const std::size_t k = random() % alive.size();
      b.end(alive[k]);
      alive[k] = b.make(random() % 2 ? alive[k].qpn : ++next);  // the number is reused at once, or not
    }
    REQUIRE(b.tick());
  }
  b.drain();
  CHECK(b.table.tracked(kDev) == b.kernel.rows[kDev].size());
  CHECK(b.drift() == 0);
  CHECK(b.kernel.dumps == 1);
  CHECK(of(b.table.totals().created) == 50 + 3500);
  CHECK(b.self_check.verdict() == SelfCheck::Verdict::verified);
}

TEST_CASE("counts that differ only because something just happened start no dump", "[daemon.reconciler]") {
  Bench b;
  CHECK(b.tick());
  std::uint32_t next = 100;
  b.kernel.after_count = [&] { b.make(++next); };
  b.ticks(700);
  CHECK(b.kernel.dumps == 1);
  CHECK(b.table.size() == 700);
  CHECK(b.drift() == 0);
}

TEST_CASE("a queue pair that only the kernel has: count, dump, confirm, once", "[daemon.reconciler]") {
  Bench b;
  b.make(1);
  b.ticks(2);
  b.kernel.rows[kDev].push_back(row(77));  // its create was lost
  b.ticks(20);
  CHECK(b.kernel.dumps == 1);  // not before the interval is over
  CHECK(b.table.size() == 1);
  CHECK(b.tick(600));
  CHECK(b.tick());
  CHECK(b.kernel.dumps == 2);
  CHECK(b.tick());
  CHECK(b.table.holder(kDev, QpType::rc, {77}, {}));
  CHECK(b.table.totals().drift_kernel_only == 1);
  b.ticks(1300);
  CHECK(b.kernel.dumps == 2);
  CHECK(b.table.totals().drift_kernel_only == 1);
  CHECK(b.table.totals().drift_table_only == 0);
}

TEST_CASE("a row that is gone at the confirmation is not added", "[daemon.reconciler]") {
  Bench b;
  b.ticks(2);
  b.kernel.rows[kDev].push_back(row(77));
  b.kernel.during_dump = [&] { b.kernel.erase(kDev, 77); };
  CHECK(b.tick(600));
  b.ticks(3);
  CHECK(b.kernel.dumps == 2);
  CHECK(b.table.size() == 0);
  CHECK(b.drift() == 0);
}

TEST_CASE("a queue pair that only the table has goes after two answers of ENOENT", "[daemon.reconciler]") {
  Bench b;
  const Who who = b.make(17);
  b.ticks(5);
  b.kernel.erase(kDev, who.qpn);  // its destroy was lost
  CHECK(b.tick());
  CHECK(b.table.size() == 1);
  SECTION("twice") {
    CHECK(b.tick());
    CHECK(b.table.size() == 0);
    CHECK(b.table.totals().drift_table_only == 1);
    CHECK(of(b.table.totals().destroyed) == 1);
    CHECK(b.kernel.dumps == 1);
  }
  SECTION("it is there again: the first answer was wrong") {
    b.kernel.rows[kDev].push_back(row(17, QpState::reset));
    b.ticks(5);
    CHECK(b.table.size() == 1);
    CHECK(b.drift() == 0);
  }
  SECTION("any other error is no evidence") {
    b.kernel.failing["get"] = io_error("get", EAGAIN);
    b.ticks(5);
    CHECK(b.table.size() == 1);
  }
}

TEST_CASE("a lasting difference makes no dump storm", "[daemon.reconciler]") {
  Bench b;
  CHECK(b.tick());
  b.kernel.rows[kDev].push_back(row(0, QpState::rts, QpType::driver));
  b.kernel.rows[kDev].back().qpn = {5};
  b.kernel.dump_breaks_off_after = 0;  // the dump never shows it
  SECTION("a dump that succeeds") { b.ticks(3600); }
  SECTION("a dump that fails") {
    b.kernel.failing["dump"] = io_error("dump", EIO);
    for (int i = 0; i < 3600; ++i) b.tick();
  }
  CHECK(b.kernel.dumps >= 5);
  CHECK(b.kernel.dumps <= 10);  // with the few that complete a seed
  CHECK(b.table.size() == 0);
}

TEST_CASE("blind: periodic dumps are the only source", "[daemon.reconciler]") {
  Bench b;
  b.events = false;
  b.make(1);
  CHECK(b.tick());
  CHECK(b.table.size() == 1);
  const Who young = b.make(2);
  b.ticks(10);
  CHECK(b.kernel.dumps == 1);
  b.ticks(6);
  CHECK(b.kernel.dumps == 2);
  CHECK(b.table.size() == 2);
  b.end(young);
  b.ticks(18);
  CHECK(b.table.size() == 1);
  CHECK(b.drift() == 0);  // without events nothing was to be expected of the table
  CHECK(of(b.table.totals().seeded) + of(b.table.totals().created) - of(b.table.totals().destroyed) == 1);
}

TEST_CASE("the sweep finds what hardware moved to ERR, within one round", "[daemon.reconciler]") {
  Bench b;
  for (std::uint32_t qpn = 1; qpn <= 20; ++qpn) b.kernel.rows[kDev].push_back(row(qpn));
  b.ticks(3);
  b.kernel.find(kDev, 13)->state = QpState::err;
  b.ticks(20 / 4);
  CHECK(b.table.holder(kDev, QpType::rc, {13}, {})->state == QpState::err);
  CHECK(transitions(b.table, QpState::rts, QpState::err) == 1);
  b.ticks(10);
  CHECK(transitions(b.table, QpState::rts, QpState::err) == 1);
}

TEST_CASE("no polls, no gets", "[daemon.reconciler]") {
  Bench b({.interval_seconds = 600, .blind_interval_seconds = 15, .polls_per_tick = 0});
  for (std::uint32_t qpn = 1; qpn <= 20; ++qpn) b.kernel.rows[kDev].push_back(row(qpn));
  b.ticks(50);
  CHECK(b.kernel.gets == 0);
}

TEST_CASE("a device goes with its queue pairs and comes back as a new one", "[daemon.reconciler]") {
  Bench b;
  b.kernel.rows[kDev].push_back(row(17));
  b.ticks(2);
  b.kernel.names.clear();
  CHECK(b.tick());
  CHECK(b.table.size() == 0);
  CHECK(b.reconcilers.devices().empty());
  b.kernel.names[{9}] = "mlx5_0";
  b.kernel.rows[{9}].push_back(row(17));
  CHECK(b.tick());
  CHECK(b.kernel.dumps == 2);
  CHECK(b.table.tracked({9}) == 1);
  b.kernel.names[{9}] = "renamed";
  CHECK(b.tick());
  CHECK(b.reconcilers.devices().at({9}) == "renamed");
  CHECK(b.table.tracked({9}) == 1);
}

TEST_CASE("errors of netlink leave everything as it was", "[daemon.reconciler]") {
  Bench b;
  for (std::uint32_t qpn = 1; qpn <= 5; ++qpn) b.kernel.rows[kDev].push_back(row(qpn));
  b.ticks(3);
  for (const char* call : {"devices", "get", "count"}) b.kernel.failing[call] = io_error(call, EIO);
  for (int i = 0; i < 20; ++i) CHECK_FALSE(b.tick(100));
  CHECK(b.table.size() == 5);
  CHECK(b.drift() == 0);
  CHECK(b.reconcilers.devices().size() == 1);
  b.kernel.failing.clear();
  b.ticks(20);
  CHECK(b.table.size() == 5);
  CHECK(sum(b.table.totals().destroyed) == 0);
}

TEST_CASE("a seed that fails is told and tried again; another device does not wait for it", "[daemon.reconciler]") {
  Bench b;
  b.kernel.rows[kDev].push_back(row(17));
  b.kernel.failing["dump"] = io_error("dump", ENOMEM);
  const auto failed = b.tick();
  REQUIRE_FALSE(failed);
  CHECK(failed.error().sys_errno == ENOMEM);
  CHECK(b.table.size() == 0);
  b.kernel.failing.clear();
  CHECK(b.tick());
  CHECK(b.table.size() == 1);
}

TEST_CASE("reseed: everything is asked for again and nothing is counted twice", "[daemon.reconciler]") {
  Bench b;
  const Who who = b.make(17);
  b.kernel.rows[kDev].push_back(row(18));
  b.ticks(2);
  {
    const std::lock_guard lock(b.mutex);
    b.table.drop_bpf();
  }
  b.events = false;
  b.reconcilers.reseed();
  CHECK(b.tick());
  CHECK(b.kernel.dumps == 2);
  CHECK(b.table.size() == 2);
  CHECK(b.table.holder(kDev, QpType::rc, {who.qpn}, {}));
  CHECK_FALSE(b.table.holder(kDev, QpType::rc, {who.qpn}, {})->from_bpf);
}

TEST_CASE("queue pairs that ended a moment ago are no sign of a wrong layout", "[daemon.reconciler]") {
  Bench b;
  CHECK(b.tick());
  for (std::uint32_t n = 1; n <= 12; ++n)
    b.ring.push_back([&, n, at = b.now() + kSecond] { create(b.table, {.serial = n, .qpn = n, .port = 1}, at); });
  b.drain();
  CHECK(b.tick());  // none is there any more, and their destroys are on their way
  CHECK(b.self_check.verdict() == SelfCheck::Verdict::unverified);
}

TEST_CASE("a wrong layout shows at the first user queue pair", "[daemon.reconciler]") {
  Bench b;
  CHECK(b.tick());
  b.kernel.rows[kDev].push_back(row(17, QpState::reset, QpType::rc, 1, 777));  // BPF will say 100
  b.ring.push_back([&, at = b.now()] { create(b.table, {.serial = 1, .qpn = 17, .port = 1}, at); });
  b.ticks(2);
  CHECK(b.self_check.verdict() == SelfCheck::Verdict::mismatch);
}

TEST_CASE("after lost events an older QP under netlink's number is no fault of BPF", "[daemon.reconciler]") {
  Bench bench;
  bench.ticks(1);
  bench.make(17);
  bench.ticks(3);
  // The destroy of 17 and the create of its successor, of another type and thread, were both lost.
  bench.lost = 2;
  auto& rows = bench.kernel.rows[kDev];
  rows.front().type = QpType::ud;
  rows.front().tid = {4711};
  bench.ticks(5);
  CHECK(bench.self_check.verdict() != SelfCheck::Verdict::mismatch);
}

TEST_CASE("a GSI QP that never has a port stays, though nobody can ask for it", "[daemon.reconciler]") {
  Bench bench;
  bench.kernel.rows[kDev].push_back({.qpn = {1}, .type = QpType::gsi, .state = QpState::rts, .kern_name = "ib_core"});
  bench.ticks(10);
  CHECK(bench.table.holder(kDev, QpType::gsi, {1}, {0}));
  CHECK(bench.table.totals().drift_table_only == 0);
}

TEST_CASE("a seed of thousands goes on by the piece, within the budget; another device does not wait for it", "[daemon.reconciler]") {
  Bench b({.interval_seconds = 600, .blind_interval_seconds = 15, .polls_per_tick = 20}, 100);
  for (std::uint32_t qpn = 1; qpn <= 2000; ++qpn) b.kernel.rows[kDev].push_back(row(qpn));
  b.kernel.names[kOtherDev] = "mlx5_1";
  b.kernel.rows[kOtherDev].push_back(row(7));
  CHECK(b.tick());
  CHECK(b.table.tracked(kOtherDev) == 1);
  CHECK(b.table.tracked(kDev) == 90);  // what has been read is known at once
  CHECK_FALSE(b.reconcilers.seeded());
  int seconds = 1;
  for (std::uint64_t before = b.budgets.at("mlx5_0")->spent(); !b.reconcilers.seeded() && seconds < 300; ++seconds) {
    CHECK(b.tick());
    const std::uint64_t spent = b.budgets.at("mlx5_0")->spent();
    CHECK(spent - before <= 180);  // what was saved up, at most one piece more
    before = spent;
  }
  CHECK(seconds >= 20);
  CHECK(seconds <= 25);
  CHECK(b.table.tracked(kDev) == 2000);
  CHECK(sum(b.table.totals().seeded) == 2001);
  CHECK(b.budgets.at("mlx5_0")->throttled() >= 18);
  CHECK(b.kernel.dumps == 2);
  b.ticks(30);
  CHECK(b.kernel.dumps == 2);
  CHECK(b.drift() == 0);
}

TEST_CASE("churn while a seed goes on: what died stays dead, what was made is not doubled", "[daemon.reconciler]") {
  Bench b({.interval_seconds = 600, .blind_interval_seconds = 15, .polls_per_tick = 20}, 100);
  std::mt19937 random(11);
  b.kernel.piece = 10;
  std::vector<Who> alive;
  for (std::uint32_t qpn = 1; qpn <= 1000; ++qpn) alive.push_back(b.make(qpn));
  b.ring.clear();  // older than the probes
  for (Who& who : alive) who.serial = 0;
  std::uint32_t next = 5000;
  for (int second = 0; second < 40; ++second) {
    for (int i = 0; i < 20; ++i) {
      const std::size_t k = random() % alive.size();
      b.end(alive[k]);
      alive[k] = b.make(random() % 2 ? alive[k].qpn : ++next);
    }
    REQUIRE(b.tick());
  }
  REQUIRE(b.reconcilers.seeded());
  b.drain();
  CHECK(b.table.tracked(kDev) <= 1000);  // what the kernel's dump skipped is not known yet, but nothing is there that should not be
  b.ticks(60);
  CHECK(b.kernel.dumps > 1);
  for (const Who& who : alive) CHECK(b.table.holder(kDev, QpType::rc, {who.qpn}, {}));
  CHECK(b.table.tracked(kDev) == 1000);
  CHECK(b.drift() == 0);
  CHECK(b.budgets.at("mlx5_0")->spent() <= 100 * 100);
}

TEST_CASE("no churn makes the sweep and its confirmations pass the budget", "[daemon.reconciler]") {
  Bench b({.interval_seconds = 1, .blind_interval_seconds = 1, .polls_per_tick = 10'000}, 100);
  std::vector<Who> alive;
  for (std::uint32_t qpn = 1; qpn <= 300; ++qpn) alive.push_back(b.make(qpn));
  std::uint32_t next = 5000;
  for (int second = 0; second < 60; ++second) {
    for (std::size_t i = 0; i < 30; ++i) {
      Who& who = alive[(static_cast<std::size_t>(second) * 30 + i) % alive.size()];
      b.end(who);
      who = b.make(++next);
      if (i % 3 == 0) b.ring.pop_back();  // events are lost on top of it
    }
    b.lost++;
    REQUIRE(b.tick());
  }
  CHECK(b.budgets.at("mlx5_0")->spent() <= 60 * 100);
  CHECK(b.budgets.at("mlx5_0")->spent() >= 60 * 70);
}

TEST_CASE("a device goes while it is dumped, and a dump is given up at the end", "[daemon.reconciler]") {
  Bench b({.interval_seconds = 600, .blind_interval_seconds = 15, .polls_per_tick = 20}, 100);
  for (std::uint32_t qpn = 1; qpn <= 500; ++qpn) b.kernel.rows[kDev].push_back(row(qpn));
  CHECK(b.tick());
  REQUIRE_FALSE(b.reconcilers.seeded());
  SECTION("the device goes") {
    b.kernel.names.clear();
    CHECK(b.tick());
    CHECK(b.table.size() == 0);
    CHECK(b.reconcilers.seeded());
  }
  SECTION("reseed") {
    b.reconcilers.reseed();
    b.ticks(20);
    CHECK(b.reconcilers.seeded());
    CHECK(b.table.size() == 500);
    CHECK(b.kernel.dumps == 2);
  }
  SECTION("the end") { b.reconcilers.stop(1); }
}

TEST_CASE("a device that the configuration leaves out is not asked for anything", "[daemon.reconciler]") {
  Bench b;
  b.unwatched = "mlx5_0";
  b.kernel.rows[kDev].push_back(row(17));
  b.ticks(5);
  CHECK(b.kernel.dumps + b.kernel.gets == 0);
  CHECK(b.reconcilers.devices().empty());
}

namespace {

// As many QPs in RTS as one likes, of two tenants in turn, on two ports in turn, made long ago.
struct Crowd {
  Bench b;
  std::vector<Who> all;
  std::map<std::uint32_t, int> asked;  // gets by QPN, since counting began

  Crowd(std::uint32_t count, ReconcileOptions options, double per_second) : b(options, per_second) {
    for (std::uint32_t n = 1; n <= count; ++n) {
      const Who who{.serial = ++b.serial, .qpn = 1000 + n, .port = 1 + n % 2};
      b.kernel.rows[kDev].push_back(row(who.qpn, QpState::rts, QpType::rc, who.port));
      create(b.table, who, b.now(), TenantId{2 + n / 2 % 2});
      modify(b.table, who, QpState::rts, b.now());
      all.push_back(who);
    }
    b.clock.pass(100);
    b.ticks(static_cast<int>(count) / 10 + 5);  // the seed, and the budget is saved up again
    b.dead.clear();
    b.kernel.on_get = [this](std::uint32_t qpn) { ++asked[qpn]; };
  }
  void kill(std::uint32_t qpn) { b.kernel.find(kDev, qpn)->state = QpState::err; }
  void suspect(Suspect whom) { b.suspicions.add("mlx5_0", whom, BootTime{b.now()}); }
};

}  // namespace

TEST_CASE("suspects: found within seconds where the sweep needs minutes, within the budget", "[daemon.reconciler]") {
  Crowd c(2000, {.interval_seconds = 600, .blind_interval_seconds = 15, .polls_per_tick = 2}, 100);
  Bench& b = c.b;
  for (const std::uint32_t qpn : {1801, 1803, 1805}) c.kill(qpn);  // port 2, tenant 2
  for (int i = 0; i < 20; ++i) CHECK(b.tick());
  CHECK(b.dead.empty());  // the sweep would need up to 1000 s
  const std::uint64_t before = b.budgets.at("mlx5_0")->spent();
  c.asked.clear();
  c.suspect({.port = {2}, .tenant = std::nullopt});
  int ticks = 0;
  while (b.dead.size() < 3 && ticks < 100) {
    CHECK(b.tick());
    ++ticks;
  }
  REQUIRE(b.dead.size() == 3);
  CHECK(ticks <= 1000 / 78 + 1);  // of 90 a second an eighth is the sweep's
  for (const Bench::Dead& dead : b.dead) {
    CHECK(dead.device == "mlx5_0");
    CHECK(dead.waited > 0);
    CHECK(dead.waited <= ticks + 0.1);
  }
  CHECK(b.budgets.at("mlx5_0")->spent() - before <= 100 * static_cast<std::uint64_t>(ticks));
  CHECK(transitions(b.table, QpState::rts, QpState::err) == 3);
  CHECK(b.table.totals().found_in_err.at({kDev, PortNum{2}}) == 3);
  for (const auto& [qpn, times] : c.asked) CHECK(times <= 2);  // once as a suspect, once in the sweep
}

TEST_CASE("a false alarm costs one question of each suspect, and nobody else is asked", "[daemon.reconciler]") {
  Crowd c(400, {.interval_seconds = 600, .blind_interval_seconds = 15, .polls_per_tick = 1}, 0);
  Bench& b = c.b;
  Suspect whom{.port = {2}, .tenant = std::nullopt};
  std::size_t suspects = 200;
  SECTION("a port") {}
  SECTION("a tenant") { whom = {.port = {}, .tenant = TenantId{3}}; }
  SECTION("a tenant's part of a port") {
    whom = {.port = {2}, .tenant = TenantId{3}};
    suspects = 100;
  }
  SECTION("the same suspect many times over") {
    for (int i = 0; i < 1000; ++i) c.suspect(whom);
  }
  c.asked.clear();
  c.suspect(whom);
  b.ticks(20);
  std::size_t gets = 0, of_suspects = 0;
  for (const auto& [qpn, times] : c.asked) {
    gets += static_cast<std::size_t>(times);
    of_suspects += whom.covers(*b.table.holder(kDev, QpType::rc, {qpn}, {1})) ? 1 : 0;
  }
  CHECK(of_suspects == suspects);
  CHECK(gets == suspects + 20);  // the sweep goes on beside
  CHECK(b.dead.empty());
  CHECK(b.table.totals().found_in_err.empty());
}

TEST_CASE("suspects: those that can send first, those that changed a moment ago last, the dead and the younger not at all", "[daemon.reconciler]") {
  QpTable table(100);
  const std::uint64_t now = 1000 * kSecond;
  const auto in = [&](std::uint64_t serial, QpState state, std::uint64_t created, std::uint64_t changed) {
    const Who who{.serial = serial, .qpn = static_cast<std::uint32_t>(serial), .port = 1};
    create(table, who, created);
    modify(table, who, state, changed);
  };
  in(1, QpState::rts, now - kSecond, now - kSecond);            // just got there
  in(2, QpState::rtr, now - 100 * kSecond, now - 90 * kSecond);
  in(3, QpState::err, now - 100 * kSecond, now - 90 * kSecond);
  in(4, QpState::sqd, now - 100 * kSecond, now - 90 * kSecond);
  in(5, QpState::rts, now - 100 * kSecond, now - 90 * kSecond);
  in(6, QpState::rts, now + kSecond, now + kSecond);            // younger than the error
  in(7, QpState::rts, now - 100 * kSecond, now - 90 * kSecond);
  table.note_asked({kDev, {7}}, {now + 1});                     // answered since
  const Suspicion port{.whom = {.port = {1}, .tenant = std::nullopt}, .at = {now}};
  const auto order = [&](std::size_t most) {
    std::vector<std::uint32_t> out;
    for (const QpRecord& one : table.suspects(kDev, {&port, 1}, most)) out.push_back(one.qpn.value);
    return out;
  };
  CHECK(order(100) == std::vector<std::uint32_t>{4, 5, 2, 1});
  CHECK(order(2) == std::vector<std::uint32_t>{4, 5});
  CHECK(table.suspects(kOtherDev, {&port, 1}, 100).empty());
  table.attribute({kDev, {2}}, owner_of_thread(1), TenantId{9});
  const std::array both{port, Suspicion{.whom = {.port = {1}, .tenant = TenantId{9}}, .at = {now}}};
  CHECK(table.suspects(kDev, both, 1).front().qpn == Qpn{2});
}

TEST_CASE("errors that never end stop neither the sweep nor a dump, and leave no suspect out", "[daemon.reconciler]") {
  Crowd c(1000, {.interval_seconds = 600, .blind_interval_seconds = 15, .polls_per_tick = 20}, 100);
  Bench& b = c.b;
  c.asked.clear();
  for (int i = 0; i < 60; ++i) {
    c.suspect({.port = {1}, .tenant = std::nullopt});
    CHECK(b.tick());
  }
  std::size_t of_port_2 = 0;
  for (const Who& who : c.all) {
    if (who.port == 1) CHECK(c.asked[who.qpn] >= 4);
    of_port_2 += who.port == 2 && c.asked[who.qpn] > 0 ? 1 : 0;
  }
  CHECK(of_port_2 > 100);
  b.reconcilers.reseed();
  const std::size_t dumps = b.kernel.dumps;
  int ticks = 0;
  for (; !b.reconcilers.seeded() && ticks < 100; ++ticks) {
    c.suspect({.port = {1}, .tenant = std::nullopt});
    CHECK(b.tick());
  }
  CHECK(b.kernel.dumps == dumps + 1);
  CHECK(ticks < 40);
}

TEST_CASE("a suspect that nobody can answer for is asked once", "[daemon.reconciler]") {
  Crowd c(10, {.interval_seconds = 600, .blind_interval_seconds = 15, .polls_per_tick = 1}, 0);
  Bench& b = c.b;
  b.kernel.failing["get"] = io_error("get", EAGAIN);
  c.suspect({});
  c.asked.clear();
  b.ticks(5);
  int gets = 0;
  for (const auto& [qpn, times] : c.asked) gets += times;
  CHECK(gets == 10 + 5);
}

TEST_CASE("no polls: suspects are not asked about either", "[daemon.reconciler]") {
  Crowd c(10, {.interval_seconds = 600, .blind_interval_seconds = 15, .polls_per_tick = 0}, 0);
  c.suspect({});
  c.b.ticks(5);
  CHECK(c.asked.empty());
}

TEST_CASE("without BPF a queue pair in ERR is told of only if it was suspect", "[daemon.reconciler]") {
  Crowd c(20, {.interval_seconds = 600, .blind_interval_seconds = 600, .polls_per_tick = 20}, 0);
  Bench& b = c.b;
  b.events = false;
  c.kill(1003);
  b.ticks(3);
  CHECK(b.dead.empty());
  CHECK(transitions(b.table, QpState::rts, QpState::err) == 1);
  c.kill(1005);
  c.suspect({});
  b.ticks(3);
  REQUIRE(b.dead.size() == 1);
  CHECK(b.dead[0].qpn == 1005);
}

TEST_CASE("a queue pair that its owner moved to ERR is none that was found there", "[daemon.reconciler]") {
  Crowd c(20, {.interval_seconds = 600, .blind_interval_seconds = 600, .polls_per_tick = 20}, 0);
  Bench& b = c.b;
  c.kill(1003);
  b.ring.push_back([&, at = b.now()] { modify(b.table, c.all[2], QpState::err, at); });
  c.suspect({});
  b.ticks(3);
  CHECK(b.dead.empty());
  CHECK(b.table.totals().found_in_err.empty());
  CHECK(transitions(b.table, QpState::rts, QpState::err) == 1);
}
