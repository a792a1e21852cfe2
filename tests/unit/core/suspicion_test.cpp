// SPDX-License-Identifier: Apache-2.0
#include "core/suspicion.h"

#include <catch2/catch.hpp>

using namespace qpscope;

TEST_CASE("a suspect that is added twice is one, with the later time", "[core.suspicion]") {
  Suspicions suspicions;
  suspicions.add("mlx5_0", {.port = {1}, .tenant = std::nullopt}, {5});
  suspicions.add("mlx5_0", {.port = {1}, .tenant = std::nullopt}, {9});
  suspicions.add("mlx5_0", {.port = {1}, .tenant = std::nullopt}, {7});
  suspicions.add("mlx5_0", {.port = {1}, .tenant = TenantId{3}}, {2});
  suspicions.add("mlx5_1", {.port = {1}, .tenant = std::nullopt}, {1});
  const auto taken = suspicions.take("mlx5_0");
  REQUIRE(taken.size() == 2);
  CHECK(taken[0].whom == Suspect{.port = {1}, .tenant = std::nullopt});
  CHECK(taken[0].at == BootTime{9});
  CHECK(taken[1].whom.tenant == TenantId{3});
  CHECK(suspicions.take("mlx5_0").empty());
  CHECK(suspicions.take("mlx5_1").size() == 1);
}

TEST_CASE("who is meant", "[core.suspicion]") {
  const QpRecord qp{.port = {2}, .tenant = 5};
  CHECK(Suspect{}.covers(qp));
  CHECK(Suspect{.port = {2}, .tenant = std::nullopt}.covers(qp));
  CHECK(Suspect{.port = {2}, .tenant = 5}.covers(qp));
  CHECK(Suspect{.port = {}, .tenant = 5}.covers(qp));
  CHECK_FALSE(Suspect{.port = {1}, .tenant = 5}.covers(qp));
  CHECK_FALSE(Suspect{.port = {2}, .tenant = 4}.covers(qp));
}

TEST_CASE("too many suspects of a device: the whole device is one; too many devices: counted", "[core.suspicion]") {
  Suspicions suspicions;
  for (std::uint32_t tenant = 0; tenant < 1000; ++tenant) suspicions.add("mlx5_0", {.port = {1}, .tenant = tenant}, {1000 - tenant});
  const auto taken = suspicions.take("mlx5_0");
  CHECK(taken.size() <= Suspicions::kMostOfDevice);
  bool everything = false;
  for (const Suspicion& one : taken) everything |= one.whom == Suspect{} && one.at == BootTime{1000};
  CHECK(everything);
  for (std::size_t device = 0; device < Suspicions::kMostDevices + 5; ++device) suspicions.add("d" + std::to_string(device), {}, {1});
  CHECK(suspicions.dropped() == 5);
  suspicions.add("d0", {}, {2});
  CHECK(suspicions.dropped() == 5);
}
