// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenants/ttl_cache.h"

#include <catch2/catch.hpp>
#include <string>

#include "support/fake_clock.h"

using namespace qpscope;
using namespace qpscope::test;

TEST_CASE("answers grow old, missing ones sooner", "[tenants.ttl_cache]") {
  FakeClock clock;
  TtlCache<int, std::string> cache(clock.fn(), {.entries = 10, .ttl_seconds = 60, .negative_ttl_seconds = 5});
  int reads = 0;
  std::optional<std::string> truth;
  const auto ask = [&](int key) { return cache.get(key, [&](int) { return ++reads, truth; }); };
  CHECK_FALSE(ask(1));
  truth = "a";
  CHECK_FALSE(ask(1));
  CHECK(reads == 1);
  clock.pass(5);
  CHECK(ask(1) == "a");
  truth = "b";
  clock.pass(59);
  CHECK(ask(1) == "a");
  CHECK(reads == 2);
  clock.pass(1);
  CHECK(ask(1) == "b");
}

TEST_CASE("it is bounded: the old go first", "[tenants.ttl_cache]") {
  FakeClock clock;
  TtlCache<int, int> cache(clock.fn(), {.entries = 3, .ttl_seconds = 60, .negative_ttl_seconds = 5});
  const auto ask = [&](int key) { return cache.get(key, [](int k) { return k < 0 ? std::nullopt : std::optional(k); }); };
  ask(1);
  ask(-1);
  ask(-2);
  clock.pass(6);
  ask(2);
  CHECK(cache.size() == 2);
  for (int i = 10; i < 100; ++i) {
    ask(i);
    CHECK(cache.size() <= 3);
  }
}
