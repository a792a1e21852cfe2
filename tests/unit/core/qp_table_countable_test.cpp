// SPDX-License-Identifier: Apache-2.0
// Which queue pairs are told to who binds them to counter sets, and when.
#include <algorithm>
#include <catch2/catch.hpp>

#include "core/qp_table.h"
#include "support/fake_clock.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

std::vector<std::uint32_t> told(QpTable& table, std::size_t most = 100, bool from_bpf = true) {
  std::vector<std::uint32_t> out;
  for (const QpRecord& record : table.take_countable(kDev, most, from_bpf)) out.push_back(record.qpn.value);
  std::ranges::sort(out);
  return out;
}

void attribute(QpTable& table, QpKey qp, TenantId tenant) {
  table.take_waiting();
  table.attribute(qp, owner_of_thread(100), tenant);
}

using Qpns = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a queue pair is told when its tenant was looked for and it has a port, in either order", "[core.qp_table_countable]") {
  QpTable table(100);
  Who a{.serial = 1, .qpn = 17}, b{.serial = 2, .qpn = 18};
  for (const Who& one : {a, b}) create(table, one, kSecond);
  attribute(table, a.key(), 5);
  CHECK(told(table).empty());
  CHECK_FALSE(table.has_countable(kDev));
  for (Who* one : {&a, &b}) {
    one->port = 1;
    modify(table, *one, QpState::init, 2 * kSecond);
  }
  CHECK(told(table) == Qpns{17});
  attribute(table, b.key(), 6);
  CHECK(table.has_countable(kDev));
  CHECK(told(table) == Qpns{18});
  CHECK(told(table).empty());
  attribute(table, b.key(), 7);  // another tenant's after all
  CHECK(told(table) == Qpns{18});
  table.retell_countable(kDev);
  CHECK(told(table) == Qpns{17, 18});
}

TEST_CASE("who is gone or whose owner is looked for anew is not told", "[core.qp_table_countable]") {
  QpTable table(100);
  Who gone{.serial = 1, .qpn = 17, .port = 1};
  create(table, gone, kSecond);
  attribute(table, gone.key(), 5);
  CHECK(table.has_countable(kDev));
  destroy(table, gone, 2 * kSecond);
  CHECK_FALSE(table.has_countable(kDev));
  // From a dump, and then the create event comes; where the kernel side had no serial left the name stays as it was.
  const bool serial = GENERATE(true, false);
  REQUIRE(seed(table, row(18), 3 * kSecond));
  attribute(table, table.holder(kDev, QpType::rc, {18}, {1})->key, 5);
  CHECK(table.has_countable(kDev));
  create(table, {.serial = serial ? 2U : 0U, .qpn = 18, .port = 1}, 2 * kSecond);
  CHECK(told(table).empty());
  CHECK(table.countable(*table.holder(kDev, QpType::rc, {18}, {1})) == false);
  attribute(table, table.holder(kDev, QpType::rc, {18}, {1})->key, 5);
  CHECK(told(table) == Qpns{18});
}

TEST_CASE("owners that BPF told of wait until they are verified, and block nobody", "[core.qp_table_countable]") {
  QpTable table(100);
  const Who bpf{.serial = 1, .qpn = 17, .port = 1};
  create(table, bpf, kSecond);
  attribute(table, bpf.key(), 5);
  REQUIRE(seed(table, row(18), kSecond));
  attribute(table, table.holder(kDev, QpType::rc, {18}, {1})->key, 5);
  CHECK(told(table, 1, false) == Qpns{18});
  CHECK(told(table, 1, false).empty());
  CHECK(told(table, 1, true) == Qpns{17});
}

TEST_CASE("a tenant with very many queue pairs keeps no other waiting", "[core.qp_table_countable]") {
  QpTable table(1000);
  for (std::uint32_t n = 1; n <= 500; ++n) {
    const Who churn{.serial = n, .qpn = 1000 + n, .port = 1};
    create(table, churn, kSecond);
    attribute(table, churn.key(), 5);
  }
  const Who quiet{.serial = 900, .qpn = 17, .port = 1};
  create(table, quiet, kSecond);
  attribute(table, quiet.key(), 6);
  const Qpns first = told(table, 2);
  CHECK(std::ranges::find(first, 17U) != first.end());
}

TEST_CASE("those that cannot be in a set are neither told nor counted", "[core.qp_table_countable]") {
  QpTable table(100);
  for (const Who& one : {Who{.serial = 1, .qpn = 1, .type = QpType::gsi, .port = 1}, Who{.serial = 2, .qpn = 18, .type = QpType::driver, .port = 1},
                         Who{.serial = 3, .qpn = 19, .port = 1, .tracked = false}, Who{.serial = 4, .qpn = 20, .type = QpType::ud, .port = 1}}) {
    create(table, one, kSecond);
    attribute(table, one.key(), 5);
  }
  CHECK(told(table) == Qpns{20});
  CHECK(table.count_countable(kDev, {1}) == 1);
  CHECK(table.count_countable(kDev, {2}) == 0);
}
