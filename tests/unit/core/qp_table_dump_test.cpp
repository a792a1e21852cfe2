// SPDX-License-Identifier: Apache-2.0
// The table and netlink: a dump is evidence of presence only, and events win over what was read before them.
#include <catch2/catch.hpp>

#include "core/qp_table.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

const QpRecord* holder(const QpTable& table, std::uint32_t qpn) { return table.holder(kDev, QpType::rc, {qpn}, {}); }

}  // namespace

TEST_CASE("a seed: rows nobody told of are offered once each", "[core.qp_table_dump]") {
  QpTable table(100);
  table.dump_begins(kDev);
  const auto verdict = dump(table, 10, {row(17), row(18), row(17)});  // a dump repeats rows
  REQUIRE(verdict.unknown.size() == 2);
  CHECK(verdict.unseen.empty());
  for (const QpRow& one : verdict.unknown) CHECK(seed(table, one, 20));
  CHECK(table.tracked(kDev) == 2);
  CHECK(of(table.totals().seeded) == 2);
  CHECK(of(table.totals().created) == 0);
  CHECK(table.totals().drift_kernel_only == 0);
  CHECK(holder(table, 17)->state == QpState::rts);
  CHECK_FALSE(holder(table, 17)->created);
  CHECK_FALSE(holder(table, 17)->from_bpf);
  CHECK_FALSE(seed(table, row(17), 30));  // its number has a holder
  CHECK(of(table.totals().seeded) == 2);
}

TEST_CASE("a row read before its queue pair's destroy does not raise the dead", "[core.qp_table_dump]") {
  QpTable table(100);
  create(table, {.serial = 1, .qpn = 17}, 5);
  seed(table, row(18), 5);
  table.dump_begins(kDev);
  destroy(table, {.serial = 1, .qpn = 17}, 20);
  destroy(table, {.serial = 0, .qpn = 18}, 20);
  destroy(table, {.serial = 0, .qpn = 19}, 20);  // older than the probes, and this dump would have been its first mention
  CHECK(dump(table, 10, {row(17), row(18), row(19)}).unknown.empty());
  CHECK(table.size() == 0);
  SECTION("the next dump is not bound by that") {
    table.dump_begins(kDev);
    CHECK(dump(table, 30, {row(17)}).unknown.size() == 1);
  }
}

TEST_CASE("a number that died on one device says nothing about another's", "[core.qp_table_dump]") {
  QpTable table(100);
  create(table, {.serial = 1, .qpn = 17, .device = kOtherDev}, 5);
  table.dump_begins(kDev);
  destroy(table, {.serial = 1, .qpn = 17, .device = kOtherDev}, 20);
  CHECK(dump(table, 10, {row(17)}).unknown.size() == 1);
}

TEST_CASE("queue pairs created while the dump ran are neither unknown nor unseen", "[core.qp_table_dump]") {
  QpTable table(100);
  table.dump_begins(kDev);
  create(table, {.serial = 1, .qpn = 17}, 20);
  create(table, {.serial = 2, .qpn = 18}, 20);
  const auto verdict = dump(table, 10, {row(17, QpState::reset)});
  CHECK(verdict.unknown.empty());
  CHECK(verdict.unseen.empty());
  CHECK(table.size() == 2);
}

TEST_CASE("unseen are those that should have been there; a dump removes nothing", "[core.qp_table_dump]") {
  QpTable table(100);
  create(table, {.serial = 1, .qpn = 17}, 5);
  create(table, {.serial = 2, .qpn = 18}, 5);
  create(table, {.serial = 3, .qpn = 0, .type = QpType::driver, .tracked = false}, 5);
  create(table, {.serial = 4, .qpn = 17, .device = kOtherDev}, 5);
  table.dump_begins(kDev);
  const auto verdict = dump(table, 10, {row(17)});
  REQUIRE(verdict.unseen.size() == 1);
  CHECK(verdict.unseen[0].key.serial.value == 2);
  CHECK(table.size() == 4);
  CHECK(table.totals().drift_table_only == 0);
}

TEST_CASE("a dump that broke off tells of what it has and of nothing else", "[core.qp_table_dump]") {
  QpTable table(100);
  for (std::uint32_t n = 0; n < 50; ++n) create(table, {.serial = n + 1, .qpn = 100 + n}, 5);
  table.dump_begins(kDev);
  const auto verdict = dump(table, 10, {row(100), row(17)}, false);
  CHECK(verdict.unknown.size() == 1);
  CHECK(verdict.unseen.empty());
}

TEST_CASE("what an answer says is adopted unless an event is newer", "[core.qp_table_dump]") {
  QpTable table(100);
  const Who qp{.serial = 1, .qpn = 17, .port = 1};
  create(table, qp, 5);
  modify(table, qp, QpState::rts, 20);
  SECTION("asked before the event: old news") {
    table.refresh(qp.key(), row(17, QpState::init), {15});
    CHECK(table.find(qp.key())->state == QpState::rts);
    CHECK(transitions(table, QpState::rts, QpState::init) == 0);
  }
  SECTION("asked after it: hardware moved it to ERR by itself") {
    table.refresh(qp.key(), row(17, QpState::err), {30});
    CHECK(table.find(qp.key())->state == QpState::err);
    CHECK(table.find(qp.key())->changed.value == 30);
    CHECK(transitions(table, QpState::rts, QpState::err) == 1);
    table.refresh(qp.key(), row(17, QpState::err), {40});
    CHECK(transitions(table, QpState::rts, QpState::err) == 1);
    CHECK(table.find(qp.key())->changed.value == 30);
  }
  SECTION("of another type: of another queue pair") {
    table.refresh(qp.key(), row(17, QpState::err, QpType::ud), {30});
    CHECK(table.find(qp.key())->state == QpState::rts);
  }
  SECTION("for one that is gone") {
    table.refresh({kDev, {99}}, row(17, QpState::err), {30});
    CHECK(table.find(qp.key())->state == QpState::rts);
  }
}

TEST_CASE("the first state that netlink tells is no transition; a port it tells makes a new version", "[core.qp_table_dump]") {
  QpTable table(100);
  QpRow bare = row(17, QpState::rts, QpType::rc, 0);
  bare.state.reset();
  seed(table, bare, 5);
  const QpKey key = holder(table, 17)->key;
  table.refresh(key, row(17), {20});
  CHECK(table.find(key)->state == QpState::rts);
  CHECK(table.find(key)->port.value == 1);
  CHECK(table.totals().transitions.empty());

  create(table, {.serial = 9, .qpn = 18}, 25);
  const auto version = table.version();
  table.refresh({kDev, {9}}, row(18, QpState::reset), {30});
  CHECK(table.find({kDev, {9}})->port.value == 1);
  CHECK(table.version() != version);
}

TEST_CASE("a found event names a seeded queue pair: same one, better name", "[core.qp_table_dump]") {
  QpTable table(100);
  seed(table, row(17), 5);
  const Who qp{.serial = 7, .qpn = 17, .port = 1};
  found(table, qp, 20);
  CHECK(table.size() == 1);
  REQUIRE(table.find(qp.key()));
  CHECK(table.find(qp.key())->state == QpState::rts);  // what netlink said stays
  CHECK(table.find(qp.key())->owner->tid.value == 100);
  CHECK(of(table.totals().seeded) == 1);
  CHECK(sum(table.totals().created) + sum(table.totals().destroyed) == 0);
  modify(table, qp, QpState::err, 30);
  CHECK(transitions(table, QpState::rts, QpState::err) == 1);
  destroy(table, qp, 40);
  CHECK(table.size() == 0);
  CHECK(table.tracked(kDev) == 0);
}

TEST_CASE("a found event of another type is another queue pair", "[core.qp_table_dump]") {
  QpTable table(100);
  seed(table, row(17, QpState::rts, QpType::ud), 5);
  found(table, {.serial = 7, .qpn = 17}, 20);
  REQUIRE(table.size() == 1);
  CHECK(table.all()[0].type == QpType::rc);
  CHECK(of(table.totals().destroyed, QpType::ud) == 1);
}

TEST_CASE("a seeded queue pair is destroyed by its number", "[core.qp_table_dump]") {
  QpTable table(100);
  seed(table, row(17), 5);
  destroy(table, {.serial = 0, .qpn = 17}, 20);
  CHECK(table.size() == 0);
  CHECK(of(table.totals().destroyed) == 1);
}

TEST_CASE("the dump was faster than the create's event: one queue pair, created", "[core.qp_table_dump]") {
  const auto why = GENERATE(QpTable::Why::seed, QpTable::Why::drift);
  QpTable table(100);
  seed(table, row(17, QpState::init), 30, why);
  create(table, {.serial = 7, .qpn = 17}, 20, 4, 200);
  CHECK(table.size() == 1);
  REQUIRE(table.find({kDev, {7}}));
  CHECK(table.find({kDev, {7}})->owner->tid.value == 200);
  CHECK(table.find({kDev, {7}})->tenant == 4);
  CHECK(table.find({kDev, {7}})->created == BootTime{20});
  CHECK(of(table.totals().seeded) == 0);
  CHECK(of(table.totals().created) == 1);
  CHECK(sum(table.totals().destroyed) == 0);
}

TEST_CASE("a create later than the seed is another queue pair", "[core.qp_table_dump]") {
  QpTable table(100);
  seed(table, row(17), 5);
  create(table, {.serial = 7, .qpn = 17}, 20);
  CHECK(table.size() == 1);
  CHECK(of(table.totals().seeded) == 1);
  CHECK(of(table.totals().created) == 1);
  CHECK(of(table.totals().destroyed) == 1);
}

TEST_CASE("drift is counted on its side", "[core.qp_table_dump]") {
  QpTable table(100);
  CHECK(seed(table, row(17), 10, QpTable::Why::drift));
  CHECK(table.totals().drift_kernel_only == 1);
  CHECK(of(table.totals().created) == 1);
  const QpKey key = holder(table, 17)->key;
  CHECK(table.remove_vanished(key, QpTable::Why::drift));
  CHECK(table.totals().drift_table_only == 1);
  CHECK_FALSE(table.remove_vanished(key, QpTable::Why::drift));
  CHECK(table.totals().drift_table_only == 1);
  CHECK(of(table.totals().destroyed) == 1);
}

TEST_CASE("without events a number with another type or creator is another queue pair", "[core.qp_table_dump]") {
  QpTable table(100);
  seed(table, row(17), 5);
  seed(table, row(18), 5);
  seed(table, row(19), 5);
  table.dump_begins(kDev);
  QpRow dead_creator = row(19);
  dead_creator.tid = {};  // unknown is not another
  const auto verdict = dump(table, 10, {row(17, QpState::rts, QpType::ud), row(18, QpState::rts, QpType::rc, 1, 222), dead_creator});
  CHECK(verdict.unknown.size() == 2);
  CHECK(of(table.totals().destroyed) == 2);
  CHECK(holder(table, 19));
}

TEST_CASE("a dump of one device that never ends hides nothing of another", "[core.qp_table_dump]") {
  QpTable table(100);
  table.dump_begins(kDev);  // and hangs
  seed(table, row(17), 1);
  const QpRow other = row(18);
  table.add(kOtherDev, other, owner_of_thread(1), 0, {1}, QpTable::Why::seed);
  destroy(table, {.serial = 0, .qpn = 17, .port = 1}, 5);
  destroy(table, {.serial = 0, .qpn = 18, .port = 1, .device = kOtherDev}, 5);
  // Their numbers are given out again, and the creates are lost.
  table.dump_begins(kOtherDev);
  CHECK(table.dump_goes_on({.device = kOtherDev, .began = {10}, .complete = true, .rows = {other}}).size() == 1);
  table.dump_ends({.device = kOtherDev, .began = {10}, .complete = true, .rows = {other}});
  CHECK(table.dump_goes_on({.device = kDev, .began = {1}, .complete = true, .rows = {row(17)}}).empty());  // read before it was destroyed
}
