// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup_map.h"

#include <catch2/catch.hpp>

#include "support/fake_clock.h"

using namespace qpscope;
using qpscope::test::kSecond;
using What = CgroupChanged::What;

namespace {

CgroupChanged change(What what, std::uint64_t id, std::string path, std::uint64_t seconds_at) {
  return {.at = {seconds_at * kSecond}, .what = what, .id = {id}, .path = std::move(path)};
}

}  // namespace

TEST_CASE("made, renamed, removed and kept a while", "[core.cgroup_map]") {
  CgroupMap map(100, 60);
  CHECK_FALSE(map.path({5}));
  map.apply(change(What::made, 5, "/a", 10));
  CHECK(map.path({5}) == "/a");
  map.apply(change(What::renamed, 5, "/b", 20));
  CHECK(map.path({5}) == "/b");
  map.apply(change(What::removed, 5, "/b", 30));
  CHECK(map.path({5}) == "/b");
  map.apply(change(What::made, 6, "/c", 90));
  CHECK(map.path({5}) == "/b");
  map.apply(change(What::made, 7, "/d", 91));
  CHECK_FALSE(map.path({5}));
  CHECK(map.size() == 2);
}

TEST_CASE("what an event said is not overwritten by the walk", "[core.cgroup_map]") {
  CgroupMap map(100, 60);
  map.apply(change(What::renamed, 5, "/new", 10));
  map.seed({5}, "/old");
  map.seed({6}, "/six");
  CHECK(map.path({5}) == "/new");
  CHECK(map.path({6}) == "/six");
}

TEST_CASE("an id used again is the new cgroup, also when the old one's time is up", "[core.cgroup_map]") {
  CgroupMap map(100, 60);
  map.apply(change(What::made, 5, "/old", 10));
  map.apply(change(What::removed, 5, "/old", 20));
  map.apply(change(What::made, 5, "/new", 30));
  CHECK(map.path({5}) == "/new");
  map.apply(change(What::made, 6, "/later", 200));
  CHECK(map.path({5}) == "/new");
}

TEST_CASE("removed cgroups give way first, then the oldest", "[core.cgroup_map]") {
  CgroupMap map(3, 60);
  for (std::uint64_t id = 1; id <= 3; ++id) map.apply(change(What::made, id, "/" + std::to_string(id), 10));
  map.apply(change(What::removed, 2, "/2", 11));
  map.apply(change(What::made, 4, "/4", 12));
  CHECK(map.size() == 3);
  CHECK_FALSE(map.path({2}));
  CHECK(map.path({1}));
  map.apply(change(What::made, 5, "/5", 13));
  CHECK(map.size() == 3);
  CHECK_FALSE(map.path({1}));
  CHECK(map.path({3}));
}

TEST_CASE("churn of others forgets neither the long-lived nor the just removed", "[core.cgroup_map]") {
  constexpr std::uint64_t kLimit = 100;
  CgroupMap map(kLimit, 60);
  map.apply(change(What::made, 1, "/long-lived", 0));
  for (std::uint64_t n = 1; n <= 20 * kLimit; ++n) {
    map.apply(change(What::made, 1000 + n, "/job" + std::to_string(n), n * 10));
    map.apply(change(What::removed, 1000 + n, "", n * 10 + 5));
    REQUIRE(map.size() <= kLimit);
    REQUIRE(map.path({1}) == "/long-lived");
    REQUIRE(map.path({1000 + n}));                         // removed a moment ago
    if (n > 5) REQUIRE(map.path({1000 + n - 5}));          // 50 s ago
    if (n > 10) REQUIRE_FALSE(map.path({1000 + n - 10}));  // 100 s ago
  }
}
