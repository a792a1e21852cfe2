// SPDX-License-Identifier: Apache-2.0
#include "core/qp_turns.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace qpscope;

namespace {

QpKey key(std::uint64_t serial) { return {{0}, {serial}}; }
bool any(QpKey) { return true; }

}  // namespace

TEST_CASE("each is told once, and tenants take turns", "[core.qp_turns]") {
  QpTurns turns;
  for (std::uint64_t n = 100; n < 200; ++n) turns.add(2, key(n));
  turns.add(3, key(1));
  turns.add(5, key(2));
  const auto first = turns.take(3, any);
  CHECK(first == std::vector{key(100), key(1), key(2)});
  CHECK(turns.take(200, any).size() == 99);
  CHECK(turns.empty());
  CHECK(turns.take(1, any).empty());
}

TEST_CASE("with room for one at a time, nobody waits longer than all the others take", "[core.qp_turns]") {
  QpTurns turns;
  std::uint64_t churn = 1000;
  turns.add(2, key(1));
  turns.add(9, key(2));
  std::vector<QpKey> told;
  for (int n = 0; n < 3; ++n) {
    for (const TenantId busy : {3U, 4U}) turns.add(busy, key(churn++));
    for (const QpKey one : turns.take(2, any)) told.push_back(one);
  }
  CHECK(std::ranges::find(told, key(1)) != told.end());
  CHECK(std::ranges::find(told, key(2)) != told.end());
}

TEST_CASE("what is not ready stays, what is taken away is not told", "[core.qp_turns]") {
  QpTurns turns;
  turns.add(2, key(1));
  turns.add(2, key(2));
  turns.add(3, key(3));
  CHECK(turns.take(10, [](QpKey qp) { return qp == key(2); }) == std::vector{key(2)});
  turns.remove(3, key(3));
  turns.remove(3, key(1));  // of another tenant: nothing
  CHECK(turns.take(10, any) == std::vector{key(1)});
  CHECK(turns.empty());
}
