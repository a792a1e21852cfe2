// SPDX-License-Identifier: Apache-2.0
#include "collectors/read_cost.h"

#include <catch2/catch.hpp>

using namespace qpscope;

namespace {

BootTime at(double milliseconds) { return {1'000'000'000'000 + static_cast<std::uint64_t>(milliseconds * 1e6)}; }

}  // namespace

TEST_CASE("without a cache every read asks", "[collectors.read_cost]") {
  ReadCost cost = ReadCost::each(1);
  for (int i = 0; i < 3; ++i) {
    CHECK(cost.commands(at(0)) == 1);
    CHECK_FALSE(cost.first_again(at(0)));
    cost.has_read(at(0), at(0), i == 0);
  }
}

TEST_CASE("one read fills the cache for its lifespan", "[collectors.read_cost]") {
  ReadCost cost = ReadCost::cached(3, false);
  CHECK(cost.commands(at(0)) == 3);
  cost.has_read(at(0), at(1), false);  // any file does
  CHECK(cost.commands(at(10.9)) == 0);
  CHECK(cost.commands(at(11.1)) == 3);
  CHECK_FALSE(cost.first_again(at(100)));
  cost.has_read(at(5), at(6), true);  // from the cache: renews nothing
  CHECK(cost.commands(at(11.1)) == 3);
  cost.lifespan(1);
  CHECK(cost.commands(at(1000)) == 0);
  CHECK(cost.commands(at(1002)) == 3);
}

TEST_CASE("where only the first file renews the cache, it is read again once the cache has surely ended", "[collectors.read_cost]") {
  ReadCost cost = ReadCost::cached(3, true);
  CHECK(cost.first_again(at(0)));
  cost.has_read(at(0), at(0), true);
  CHECK_FALSE(cost.first_again(at(10)));
  CHECK(cost.commands(at(12)) == 3);          // perhaps: the kernel's clock ticks every few milliseconds
  CHECK_FALSE(cost.first_again(at(12)));      // which might renew nothing
  cost.has_read(at(12), at(12), false);
  CHECK(cost.commands(at(13)) == 3);          // another file renews nothing
  CHECK(cost.first_again(at(15)));
  cost.has_read(at(15), at(15), true);
  CHECK(cost.commands(at(25)) == 0);
}
