// SPDX-License-Identifier: Apache-2.0
// The table from event lists: life of a queue pair, and whose number is whose.
#include "core/qp_table.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "support/fake_clock.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;

TEST_CASE("a queue pair's life: counts, transitions, setup time", "[core.qp_table]") {
  QpTable table(100);
  Who qp{.serial = 7, .qpn = 17};
  create(table, qp, 10 * kSecond, 5);
  REQUIRE(table.find(qp.key()));
  CHECK(table.find(qp.key())->state == QpState::reset);
  CHECK(table.find(qp.key())->port.value == 0);
  CHECK(table.find(qp.key())->tenant == 5);
  qp.port = 2;
  modify(table, qp, QpState::init, 10 * kSecond + 100);
  table.apply(QpModified{.at = {10 * kSecond + 200}, .qp = qp.identity(), .to = QpState::rtr, .remote_qpn = Qpn{99}, .path_mtu = 4096});
  modify(table, qp, QpState::rts, 10 * kSecond + 2'000'000);
  const QpRecord* record = table.find(qp.key());
  CHECK(record->state == QpState::rts);
  CHECK(record->port.value == 2);
  CHECK(record->remote_qpn == Qpn{99});
  CHECK(record->path_mtu == 4096U);
  CHECK(record->changed.value == 10 * kSecond + 2'000'000);
  CHECK(table.holder(kDev, QpType::rc, {17}, {})->key == qp.key());
  CHECK(table.tracked(kDev) == 1);
  destroy(table, qp, 11 * kSecond);

  CHECK(table.size() == 0);
  CHECK(table.tracked(kDev) == 0);
  CHECK_FALSE(table.holder(kDev, QpType::rc, {17}, {}));
  const QpTotals& totals = table.totals();
  CHECK(of(totals.created) == 1);
  CHECK(of(totals.destroyed) == 1);
  CHECK(sum(totals.seeded) == 0);
  REQUIRE(totals.transitions.size() == 3);
  CHECK(totals.transitions.at({kDev, {2}, QpType::rc, QpState::reset, QpState::init}) == 1);
  CHECK(totals.transitions.at({kDev, {2}, QpType::rc, QpState::init, QpState::rtr}) == 1);
  CHECK(totals.transitions.at({kDev, {2}, QpType::rc, QpState::rtr, QpState::rts}) == 1);
  REQUIRE(totals.setup.size() == 1);
  CHECK(totals.setup.at(kDev).counts == std::array<std::uint64_t, 11>{0, 0, 0, 1});  // 2 ms: up to 5 ms
  CHECK(totals.setup.at(kDev).sum == Approx(0.002));
}

TEST_CASE("the same event twice is one event", "[core.qp_table]") {
  QpTable table(100);
  const Who qp{.serial = 7, .qpn = 17, .port = 1};
  create(table, qp, 10);
  create(table, qp, 10);
  modify(table, qp, QpState::init, 20);
  modify(table, qp, QpState::init, 20);
  CHECK(of(table.totals().created) == 1);
  CHECK(transitions(table, QpState::reset, QpState::init) == 1);
  CHECK(transitions(table, QpState::init, QpState::init) == 0);
  destroy(table, qp, 30);
  destroy(table, qp, 30);
  CHECK(of(table.totals().destroyed) == 1);
  CHECK(table.size() == 0);
}

TEST_CASE("a modify that stays in its state is no state change", "[core.qp_table]") {
  QpTable table(100);
  const Who qp{.serial = 7, .qpn = 17, .port = 1};
  create(table, qp, 10);
  modify(table, qp, QpState::init, 20);
  table.apply(QpModified{.at = {30}, .qp = qp.identity(), .to = QpState::init, .timeout = 14});
  CHECK(table.find(qp.key())->changed.value == 20);
  CHECK(table.find(qp.key())->timeout == 14U);
  CHECK(table.totals().transitions.size() == 1);
}

TEST_CASE("a reset queue pair has no peer", "[core.qp_table]") {
  QpTable table(100);
  const Who qp{.serial = 7, .qpn = 17, .port = 1};
  create(table, qp, 10);
  table.apply(QpModified{.at = {20}, .qp = qp.identity(), .to = QpState::rtr, .remote_qpn = Qpn{5}, .remote_gid = Gid{}, .remote_lid = 9});
  modify(table, qp, QpState::reset, 30);
  CHECK_FALSE(table.find(qp.key())->remote_qpn);
  CHECK_FALSE(table.find(qp.key())->remote_gid);
  CHECK_FALSE(table.find(qp.key())->remote_lid);
}

TEST_CASE("a number given out again before the old destroy returned", "[core.qp_table]") {
  QpTable table(100);
  const Who old{.serial = 7, .qpn = 17};
  const Who next{.serial = 8, .qpn = 17};
  create(table, old, 10, 1, 100);
  create(table, next, 20, 2, 200);
  CHECK_FALSE(table.find(old.key()));
  REQUIRE(table.find(next.key()));
  CHECK(of(table.totals().created) == 2);
  CHECK(of(table.totals().destroyed) == 1);

  modify(table, next, QpState::init, 25);
  destroy(table, old, 30);  // returns only now
  REQUIRE(table.find(next.key()));
  CHECK(table.holder(kDev, QpType::rc, {17}, {})->key == next.key());
  CHECK(table.find(next.key())->owner->tid.value == 200);
  CHECK(of(table.totals().destroyed) == 1);
  CHECK(table.tracked(kDev) == 1);
}

TEST_CASE("a destroy of another serial or another device changes nothing", "[core.qp_table]") {
  QpTable table(100);
  const Who qp{.serial = 7, .qpn = 17};
  create(table, qp, 10);
  destroy(table, {.serial = 6, .qpn = 17}, 20);
  destroy(table, {.serial = 0, .qpn = 17}, 20);  // of a QP older than the probes, but the holder is a newer one
  destroy(table, {.serial = 7, .qpn = 17, .device = kOtherDev}, 20);
  CHECK(table.find(qp.key()));
  CHECK(sum(table.totals().destroyed) == 0);
}

TEST_CASE("equal numbers on two devices are two queue pairs", "[core.qp_table]") {
  QpTable table(100);
  create(table, {.serial = 1, .qpn = 17}, 10);
  create(table, {.serial = 2, .qpn = 17, .device = kOtherDev}, 10);
  CHECK(table.size() == 2);
  destroy(table, {.serial = 1, .qpn = 17}, 20);
  CHECK(table.tracked(kDev) == 0);
  CHECK(table.tracked(kOtherDev) == 1);
  CHECK(table.holder(kOtherDev, QpType::rc, {17}, {}));
  CHECK(of(table.totals().destroyed, QpType::rc, kOtherDev) == 0);
}

TEST_CASE("SMI and GSI exist once on every port", "[core.qp_table]") {
  QpTable table(100);
  std::uint64_t serial = 0;
  for (std::uint32_t port = 1; port <= 2; ++port) {
    create(table, {.serial = ++serial, .qpn = 0, .type = QpType::smi, .port = port}, 10);
    create(table, {.serial = ++serial, .qpn = 1, .type = QpType::gsi, .port = port}, 10);
  }
  CHECK(table.size() == 4);
  CHECK(table.tracked(kDev) == 4);
  CHECK(sum(table.totals().destroyed) == 0);
  CHECK(table.holder(kDev, QpType::gsi, {1}, {2})->key.serial.value == 4);
  destroy(table, {.serial = 4, .qpn = 1, .type = QpType::gsi, .port = 2}, 20);
  CHECK(table.holder(kDev, QpType::gsi, {1}, {1}));
  CHECK_FALSE(table.holder(kDev, QpType::gsi, {1}, {2}));
}

TEST_CASE("untracked queue pairs may share a number and are not counted against netlink", "[core.qp_table]") {
  QpTable table(100);
  const QpType dct = QpType::driver;
  for (std::uint64_t serial = 1; serial <= 3; ++serial) create(table, {.serial = serial, .qpn = 0, .type = dct, .tracked = false}, 10);
  CHECK(table.size() == 3);
  CHECK(table.tracked(kDev) == 0);
  CHECK(table.next_tracked(kDev, {}, 10).empty());
  modify(table, {.serial = 2, .qpn = 0, .type = dct, .port = 1, .tracked = false}, QpState::rtr, 20);
  CHECK(table.find({kDev, {2}})->state == QpState::rtr);
  CHECK(table.find({kDev, {1}})->state == QpState::reset);
  destroy(table, {.serial = 2, .qpn = 0, .type = dct, .tracked = false}, 30);
  CHECK(table.size() == 2);
  CHECK(of(table.totals().created, dct) == 3);
  CHECK(of(table.totals().destroyed, dct) == 1);
}

TEST_CASE("an untracked queue pair neither takes nor frees a tracked one's number", "[core.qp_table]") {
  QpTable table(100);
  seed(table, row(17), 5);
  create(table, {.serial = 1, .qpn = 17, .tracked = false}, 10);
  CHECK(is_seeded(table.holder(kDev, QpType::rc, {17}, {})->key.serial));
  destroy(table, {.serial = 0, .qpn = 17, .tracked = false}, 20);
  CHECK(table.holder(kDev, QpType::rc, {17}, {}));
  CHECK(table.size() == 2);
}

TEST_CASE("without a serial and without tracking a queue pair cannot be kept: it could never leave", "[core.qp_table]") {
  QpTable table(100);
  for (int i = 0; i < 50; ++i) create(table, {.serial = 0, .qpn = 0, .type = QpType::driver, .tracked = false}, 10);
  CHECK(table.size() == 0);
  CHECK(table.totals().evicted == 50);
}

TEST_CASE("a create without a serial is known by its number", "[core.qp_table]") {
  QpTable table(100);
  create(table, {.serial = 0, .qpn = 17}, 10);
  create(table, {.serial = 0, .qpn = 17}, 10);
  CHECK(table.size() == 1);
  CHECK(of(table.totals().created) == 1);
  CHECK(of(table.totals().seeded) == 0);
  modify(table, {.serial = 0, .qpn = 17, .port = 1}, QpState::init, 20);
  CHECK(table.holder(kDev, QpType::rc, {17}, {})->state == QpState::init);
  destroy(table, {.serial = 0, .qpn = 17}, 30);
  CHECK(table.size() == 0);
}

TEST_CASE("a modify of a queue pair whose create was lost", "[core.qp_table]") {
  QpTable table(100);
  const Who qp{.serial = 7, .qpn = 17, .port = 1};
  modify(table, qp, QpState::rts, 10);
  const QpRecord* record = table.find(qp.key());
  REQUIRE(record);
  CHECK(record->state == QpState::rts);
  CHECK(record->port.value == 1);
  CHECK_FALSE(record->created);
  CHECK_FALSE((record->owner && record->owner->known));
  CHECK(transitions(table, std::nullopt, QpState::rts) == 1);  // from: unknown
  CHECK(table.totals().setup.empty());                         // and how long it took is not known either
  CHECK(of(table.totals().created) == 0);
  CHECK(of(table.totals().seeded) == 1);
  destroy(table, qp, 20);
  CHECK(of(table.totals().destroyed) == 1);
}

TEST_CASE("a modify without a serial and without a holder says nothing", "[core.qp_table]") {
  QpTable table(100);
  modify(table, {.serial = 0, .qpn = 17}, QpState::rts, 10);
  CHECK(table.size() == 0);
  CHECK(table.totals().transitions.empty());
}

TEST_CASE("failed calls change nothing but their counter", "[core.qp_table]") {
  QpTable table(100);
  create(table, {.serial = 1, .qpn = 17}, 10);
  const auto before = table.all();
  table.apply(QpCallFailed{.at = {20}, .device = kDev, .call = QpCallFailed::Call::create, .error = 12});
  table.apply(QpCallFailed{.at = {20}, .device = kDev, .call = QpCallFailed::Call::modify, .error = 22});
  table.apply(QpCallFailed{.at = {20}, .device = kDev, .call = QpCallFailed::Call::modify, .error = 22});
  CHECK(table.size() == 1);
  CHECK(table.all()[0].state == before[0].state);
  CHECK(of(table.totals().created) == 1);
  CHECK(sum(table.totals().destroyed) == 0);
  REQUIRE(table.totals().failures.size() == 2);
  CHECK(table.totals().failures.at({kDev, QpCallFailed::Call::modify, 22}) == 2);
}

TEST_CASE("who waits for a tenant is told once, with the time its maker lived", "[core.qp_table]") {
  QpTable table(100);
  const Who first{.serial = 7, .qpn = 17}, second{.serial = 8, .qpn = 18};
  create(table, first, 10, 0, 100);
  create(table, second, 20, 0, 200);
  found(table, {.serial = 9, .qpn = 19}, 30);  // of an owner that nobody knows
  CHECK_FALSE(table.find(first.key())->attributed);
  auto waiting = table.take_waiting();
  REQUIRE(waiting.size() == 2);
  std::ranges::sort(waiting, {}, &QpTable::Waiting::key);
  CHECK(waiting[0].owner->tid.value == 100);
  CHECK(waiting[1].seen.value == 20);
  CHECK(table.take_waiting().empty());

  table.attribute(first.key(), waiting[0].owner, 3);
  table.attribute(second.key(), waiting[1].owner, 4, QpTable::Settled::no);
  CHECK(table.find(first.key())->attributed);
  auto tenants = table.tenants();
  std::ranges::sort(tenants);
  CHECK(tenants == std::vector<TenantId>{0, 3, 4});
  CHECK(table.take_waiting().empty());
  table.retry_unsettled();
  waiting = table.take_waiting();
  REQUIRE(waiting.size() == 1);
  CHECK(waiting[0].key == second.key());
}

TEST_CASE("a queue pair that is gone waits no more, and one renamed still does", "[core.qp_table]") {
  QpTable table(100);
  const Who waits{.serial = 7, .qpn = 17}, unsettled{.serial = 8, .qpn = 18};
  create(table, waits, 10);
  create(table, unsettled, 10);
  table.attribute(unsettled.key(), owner_of_thread(1), 1, QpTable::Settled::no);
  destroy(table, waits, 20);
  destroy(table, unsettled, 20);
  table.retry_unsettled();
  CHECK(table.take_waiting().empty());

  REQUIRE(seed(table, row(20), 30));  // from a dump, and then its own event
  const Who same{.serial = 9, .qpn = 20, .port = 1};
  create(table, same, 29, 0, 300);
  const auto waiting = table.take_waiting();
  REQUIRE(waiting.size() == 1);
  CHECK(waiting[0].key == same.key());
  CHECK(waiting[0].owner->tid.value == 300);
}

TEST_CASE("late attribution moves the queue pair to its tenant", "[core.qp_table]") {
  QpTable table(100);
  const Who qp{.serial = 1, .qpn = 17};
  create(table, qp, 10);
  const auto version = table.version();
  table.attribute(qp.key(), owner_of_thread(55), 4);
  CHECK(table.version() != version);
  CHECK(table.find(qp.key())->tenant == 4);
  CHECK(table.find(qp.key())->owner->tid.value == 55);
  table.attribute({kDev, {99}}, owner_of_thread(1), 4);  // gone meanwhile
  CHECK(table.size() == 1);
}

TEST_CASE("everything of a device goes with it, and nothing else", "[core.qp_table]") {
  QpTable table(100);
  create(table, {.serial = 1, .qpn = 17}, 10);
  create(table, {.serial = 2, .qpn = 0, .type = QpType::driver, .tracked = false}, 10);
  seed(table, row(18), 10);
  create(table, {.serial = 3, .qpn = 17, .device = kOtherDev}, 10);
  table.drop_device(kDev);
  REQUIRE(table.size() == 1);
  CHECK(table.all()[0].key.device == kOtherDev);
  CHECK(table.tracked(kDev) == 0);
  CHECK(sum(table.totals().destroyed) == 3);
}

TEST_CASE("what came from BPF can be dropped, what netlink told stays", "[core.qp_table]") {
  QpTable table(100);
  create(table, {.serial = 1, .qpn = 17}, 10);
  seed(table, row(18), 10);
  seed(table, row(19), 10);
  found(table, {.serial = 2, .qpn = 19}, 20);  // seeded, then named by BPF
  table.drop_bpf();
  REQUIRE(table.size() == 1);
  CHECK(table.all()[0].qpn.value == 18);
  CHECK(table.tracked(kDev) == 1);
}

TEST_CASE("after the serials are forgotten a queue pair is known by its number, with all that was known of it", "[core.qp_table]") {
  QpTable table(100);
  const Who qp{.serial = 7, .qpn = 17, .port = 1}, untracked{.serial = 8, .qpn = 0, .tracked = false}, gone{.serial = 9, .qpn = 19, .port = 1};
  for (const Who& one : {qp, untracked, gone}) create(table, one, 10, 5);
  modify(table, qp, QpState::init, 20);
  table.forget_serials();
  CHECK(table.size() == 2);  // nobody would tell of the end of the untracked one
  CHECK_FALSE(table.find(qp.key()));
  const QpRecord* record = table.holder(kDev, QpType::rc, {17}, {1});
  REQUIRE(record);
  CHECK(is_seeded(record->key.serial));
  CHECK_FALSE(record->from_bpf);
  CHECK(record->tenant == 5);
  CHECK(record->state == QpState::init);
  CHECK(record->created == BootTime{10});

  // A serial that was another's before: the new probes count for themselves.
  const Who newer{.serial = 9, .qpn = 21, .port = 1};
  create(table, newer, 30, 5);
  CHECK(table.find(newer.key())->qpn == Qpn{21});
  // One of old is modified: the probes find it and give it a serial; another ends without ever having had one.
  const Who found{.serial = 11, .qpn = 17, .port = 1};
  table.apply(QpCreated{.at = {40}, .qp = found.identity(), .owner = {}, .found = true}, nullptr, 0);
  modify(table, found, QpState::rtr, 40);
  REQUIRE(table.find(found.key()));
  CHECK(table.find(found.key())->created == BootTime{10});
  CHECK(table.find(found.key())->tenant == 5);
  destroy(table, Who{.serial = 0, .qpn = 19, .port = 1}, 50);
  CHECK(table.size() == 2);
  CHECK(of(table.totals().created) == 4);
}

TEST_CASE("the readers of a slice: in turn, and newest first", "[core.qp_table]") {
  QpTable table(100);
  for (std::uint64_t serial = 1; serial <= 5; ++serial) {
    create(table, {.serial = serial, .qpn = static_cast<std::uint32_t>(serial + 16), .port = 1}, serial * 10);
  }
  const auto serials = [](const std::vector<QpRecord>& records) {
    std::vector<std::uint64_t> out;
    for (const QpRecord& record : records) out.push_back(record.key.serial.value);
    return out;
  };
  CHECK(serials(table.next_tracked(kDev, {}, 2)) == std::vector<std::uint64_t>{1, 2});
  CHECK(serials(table.next_tracked(kDev, {kDev, {2}}, 2)) == std::vector<std::uint64_t>{3, 4});
  CHECK(serials(table.next_tracked(kDev, {kDev, {4}}, 3)) == std::vector<std::uint64_t>{5, 1, 2});
  CHECK(serials(table.next_tracked(kDev, {kDev, {4}}, 50)).size() == 5);
  CHECK(table.next_tracked(kOtherDev, {}, 5).empty());
  CHECK(serials(table.newest_from_bpf(kDev, 2)) == std::vector<std::uint64_t>{5, 4});
}

TEST_CASE("each user of a number has a generation of its own, the one older than the daemon 0", "[core.qp_table]") {
  QpTable table(100);
  table.add(kDev, {.qpn = {17}, .port = {1}, .state = QpState::rts}, nullptr, 0, {10}, QpTable::Why::seed);
  CHECK(table.holder(kDev, QpType::rc, {17}, {1})->generation == 0);
  std::uint64_t last = 0;
  for (std::uint64_t serial = 5; serial < 9; ++serial) {
    create(table, {.serial = serial, .qpn = 17}, 100 * serial);
    const auto generation = table.holder(kDev, QpType::rc, {17}, {0})->generation;
    CHECK(generation > last);
    last = generation;
  }
}
