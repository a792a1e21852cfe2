// SPDX-License-Identifier: Apache-2.0
#include "core/back_off.h"

#include <catch2/catch.hpp>
#include <vector>

#include "support/fake_clock.h"

using namespace qpscope;
using namespace qpscope::test;

TEST_CASE("what fails is tried again after 1, 2, 4 … 64 s", "[core.back_off]") {
  FakeClock clock;
  BackOff back_off;
  std::vector<int> tries;
  for (int second = 0; second < 300; ++second) {
    if (back_off.due(clock.now())) {
      tries.push_back(second);
      back_off.failed(clock.now());
    }
    clock.pass(1);
  }
  CHECK(tries == std::vector{0, 1, 3, 7, 15, 30, 59, 117, 175, 233, 291});  // a tenth early, on a clock of whole seconds
  back_off.succeeded();
  CHECK(back_off.due(clock.now()));
  back_off.failed(clock.now());
  clock.pass(0.5);
  CHECK_FALSE(back_off.due(clock.now()));
  clock.pass(0.5);
  CHECK(back_off.due(clock.now()));
}
