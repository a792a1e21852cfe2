// SPDX-License-Identifier: Apache-2.0
// The table is bounded: who gives way, and that the totals say so.
#include <catch2/catch.hpp>
#include <map>

#include "core/qp_table.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

constexpr TenantId kQuiet = 5, kFlood = 6;

std::map<TenantId, std::size_t> by_tenant(const QpTable& table) {
  std::map<TenantId, std::size_t> out;
  for (const QpRecord& record : table.all()) ++out[record.tenant];
  return out;
}

void make(QpTable& table, std::uint32_t first, std::uint32_t count, TenantId tenant) {
  for (std::uint32_t n = first; n < first + count; ++n) create(table, {.serial = n, .qpn = n, .port = 1}, n, tenant);
}

}  // namespace

TEST_CASE("a tenant that floods the table pushes out only its own", "[core.qp_table_room]") {
  QpTable table(200);
  make(table, 1, 60, kQuiet);
  for (std::uint32_t n = 1000; n < 4000; ++n) {
    const Who qp{.serial = n, .qpn = n, .port = 1};
    create(table, qp, n, kFlood);
    for (const QpState to : {QpState::init, QpState::rtr, QpState::rts}) modify(table, qp, to, n);  // also those that found no room
    REQUIRE(table.size() <= 200);
  }
  CHECK(by_tenant(table)[kQuiet] == 60);
  CHECK(by_tenant(table)[kFlood] == 140);
  CHECK(table.totals().evicted == 3000 - 140);
  CHECK(of(table.totals().created) == 3060);
  CHECK(table.tracked(kDev) == 200);
}

TEST_CASE("a newcomer takes its share from the biggest and no more", "[core.qp_table_room]") {
  QpTable table(6400);  // a 64th is 100
  make(table, 1, 6400, kFlood);
  make(table, 10000, 8000, kQuiet);
  const auto held = by_tenant(table);
  CHECK(held.at(kQuiet) + held.at(kFlood) <= 6400);
  CHECK(held.at(kFlood) >= 3200);
  CHECK(held.at(kQuiet) >= 3100);
}

TEST_CASE("at equal shares nobody gains by flooding, whoever came first", "[core.qp_table_room]") {
  const std::uint32_t early = GENERATE(0U, 1U);
  QpTable table(6400);
  make(table, 9999, early, kFlood);
  make(table, 1, 3200, kQuiet);
  make(table, 10000, 10000, kFlood);
  CHECK(by_tenant(table).at(kQuiet) == 3200);
  CHECK(by_tenant(table).at(kFlood) == 3200);
}

TEST_CASE("the longest unchanged give way first", "[core.qp_table_room]") {
  QpTable table(100);
  make(table, 1, 100, kFlood);
  modify(table, {.serial = 1, .qpn = 1, .port = 1}, QpState::init, 5000);
  make(table, 1000, 1, kQuiet);
  CHECK(table.find({kDev, {1}}));
  CHECK_FALSE(table.find({kDev, {2}}));
  CHECK(table.find({kDev, {1000}}));
}

TEST_CASE("a queue pair that found no room is not let in by its modify, and its destroy harms nobody", "[core.qp_table_room]") {
  QpTable table(16);
  make(table, 1, 16, kFlood);
  const Who refused{.serial = 99, .qpn = 99, .port = 1};
  create(table, refused, 100, kFlood);
  modify(table, refused, QpState::init, 101);
  modify(table, refused, QpState::rtr, 102);
  CHECK_FALSE(table.find(refused.key()));
  CHECK(table.totals().evicted == 1);
  destroy(table, refused, 103);
  CHECK(table.size() == 16);
  CHECK(of(table.totals().created) + of(table.totals().seeded) - of(table.totals().destroyed) == table.size() + table.totals().evicted);
}

TEST_CASE("evicted queue pairs leave no trace behind", "[core.qp_table_room]") {
  QpTable table(64);
  make(table, 1, 64, kFlood);
  make(table, 1000, 20, kQuiet);
  CHECK(table.totals().evicted == 20);
  CHECK(table.size() == 64);
  for (std::uint32_t n = 1; n <= 64; ++n) destroy(table, {.serial = n, .qpn = n, .port = 1}, 2000);
  CHECK(table.size() == 20);
  CHECK(table.tracked(kDev) == 20);
  CHECK(by_tenant(table)[kQuiet] == 20);
  for (std::uint32_t n = 1; n <= 64; ++n) CHECK_FALSE(table.holder(kDev, QpType::rc, {n}, {}));
}

TEST_CASE("netlink rows that find no room are refused", "[core.qp_table_room]") {
  QpTable table(4);
  for (std::uint32_t n = 1; n <= 4; ++n) CHECK(seed(table, row(n), 5));
  CHECK_FALSE(seed(table, row(5), 5));
  CHECK(table.size() == 4);
  CHECK(table.totals().evicted == 1);
  CHECK(of(table.totals().seeded) == 4);
}
