// SPDX-License-Identifier: Apache-2.0
#include "reconciler.h"

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
  Reconciler reconciler;

  explicit Bench(ReconcileOptions options = {.interval_seconds = 600, .blind_interval_seconds = 15, .polls_per_tick = 4}, double per_second = 0)
      : reconciler(kernel, table, mutex, self_check, options,
                   {.now = clock.fn(),
                    .drain = [this] { drain(); },
                    .attribute = [](const QpRow& one) { return std::pair(owner_of_thread(one.tid.value), TenantId{1}); },
                    .events_on = [this] { return events; },
                    .events_lost = [this] { return lost; },
                    .watched = [this](const std::string& device) { return device != unwatched; },
                    .budget =
                        [this, per_second](const std::string& device) {
                          auto& budget = budgets[device];
                          if (!budget) budget = std::make_shared<CommandBudget>(per_second);
                          return budget;
                        }}) {
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
    return reconciler.tick();
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
  CHECK(b.reconciler.devices() == std::map<DeviceIndex, std::string>{{kDev, "mlx5_0"}, {kOtherDev, "mlx5_1"}});
  CHECK(b.budgets.at("mlx5_0")->spent() == 30);
  CHECK(b.reconciler.seeded());
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
  CHECK(b.reconciler.devices().empty());
  b.kernel.names[{9}] = "mlx5_0";
  b.kernel.rows[{9}].push_back(row(17));
  CHECK(b.tick());
  CHECK(b.kernel.dumps == 2);
  CHECK(b.table.tracked({9}) == 1);
  b.kernel.names[{9}] = "renamed";
  CHECK(b.tick());
  CHECK(b.reconciler.devices().at({9}) == "renamed");
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
  CHECK(b.reconciler.devices().size() == 1);
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
  b.reconciler.reseed();
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
  CHECK_FALSE(b.reconciler.seeded());
  int seconds = 1;
  for (std::uint64_t before = b.budgets.at("mlx5_0")->spent(); !b.reconciler.seeded() && seconds < 300; ++seconds) {
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
  REQUIRE(b.reconciler.seeded());
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
  REQUIRE_FALSE(b.reconciler.seeded());
  SECTION("the device goes") {
    b.kernel.names.clear();
    CHECK(b.tick());
    CHECK(b.table.size() == 0);
    CHECK(b.reconciler.seeded());
  }
  SECTION("reseed") {
    b.reconciler.reseed();
    b.ticks(20);
    CHECK(b.reconciler.seeded());
    CHECK(b.table.size() == 500);
    CHECK(b.kernel.dumps == 2);
  }
  SECTION("the end") { b.reconciler.close(); }
}

TEST_CASE("a device that the configuration leaves out is not asked for anything", "[daemon.reconciler]") {
  Bench b;
  b.unwatched = "mlx5_0";
  b.kernel.rows[kDev].push_back(row(17));
  b.ticks(5);
  CHECK(b.kernel.dumps + b.kernel.gets == 0);
  CHECK(b.reconciler.devices().empty());
}
