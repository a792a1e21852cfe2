// SPDX-License-Identifier: Apache-2.0
#include "core/ids.h"

#include <catch2/catch.hpp>

using namespace qpscope;

TEST_CASE("a grid is kept by who comes early and by who comes late", "[core.ids]") {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const BootTime began{100 * kSecond + 7};
  const auto next = [&](double passed) { return seconds(next_on_grid(began, 1, after(began, passed)), began); };
  CHECK(next(0) == 1);
  CHECK(next(0.1) == 1);
  CHECK(next(0.6) == 2);     // never twice in a row
  CHECK(next(1) == 2);
  CHECK(next(1.3) == 2);     // woken late, or slow: the next ones are not shifted
  CHECK(next(1000.9) == 1002);
  CHECK(seconds(next_on_grid(began, 15, after(began, 1)), began) == 15);
  CHECK(seconds(next_on_grid(began, 0, after(began, 1)), began) > 1);
}
