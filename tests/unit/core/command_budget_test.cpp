// SPDX-License-Identifier: Apache-2.0
#include "core/command_budget.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <limits>
#include <random>

#include "support/fake_clock.h"

using namespace qpscope;
using namespace qpscope::test;
using Use = CommandBudget::Use;

TEST_CASE("a question may be asked at once, and what it overdraws is waited for", "[core.command_budget]") {
  FakeClock clock;
  CommandBudget budget(100);
  CHECK(budget.may_ask(Use::sampling, clock.now()));
  CHECK(budget.room(Use::sampling, clock.now()) == 0);
  budget.spend(Use::sampling, 135, clock.now());
  CHECK(budget.assured(Use::sampling) == Approx(67.5));
  CHECK(budget.seconds_to_wait(Use::sampling, clock.now()) == Approx(2));
  CHECK(budget.seconds_to_wait(Use::queue_pairs, clock.now()) == 0);
  clock.pass(1);
  CHECK(budget.seconds_to_wait(Use::sampling, clock.now()) == Approx(1));
  clock.pass(1.001);
  CHECK(budget.may_ask(Use::sampling, clock.now()));
  CHECK(budget.spent() == 135);
}

TEST_CASE("whoever wants too much: never more than the budget in any ten seconds, and nobody starves", "[core.command_budget]") {
  std::mt19937 random(7);
  for (const auto& [sampling_wants, pairs_want, sets_want] :
       {std::tuple(1.0, 1.0, 1.0), std::tuple(1.0, 1.0, 0.0), std::tuple(0.0, 1.0, 0.0), std::tuple(1.0, 0.0, 0.0), std::tuple(0.1, 1.0, 1.0)}) {
    FakeClock clock;
    CommandBudget budget(100);
    std::deque<std::pair<double, std::uint64_t>> asked;  // when, how much
    std::uint64_t by_use[3] = {};
    double now = 0;
    const auto wants = [&](double eager) { return std::bernoulli_distribution(eager)(random); };
    for (int step = 0; step < 60'000; ++step) {
      clock.pass(0.01);
      now += 0.01;
      std::uint64_t cost = 0;
      if (wants(sampling_wants) && budget.may_ask(Use::sampling, clock.now())) {
        budget.spend(Use::sampling, cost = 1 + random() % 10, clock.now());
        by_use[0] += cost;
      }
      if (wants(pairs_want)) {
        const auto n = std::min<std::uint64_t>(budget.room(Use::queue_pairs, clock.now()), 90);
        budget.spend(Use::queue_pairs, n, clock.now());
        by_use[1] += n;
        cost += n;
      }
      if (wants(sets_want) && budget.may_ask(Use::sets, clock.now())) {
        budget.spend(Use::sets, 2, clock.now());
        by_use[2] += 2;
        cost += 2;
      }
      asked.emplace_back(now, cost);
      std::uint64_t in_ten = 0;
      while (asked.front().first < now - 10) asked.pop_front();
      if (step % 50 == 0) {
        for (const auto& one : asked) in_ten += one.second;
        REQUIRE(in_ten <= 1000 + 90);
      }
    }
    INFO(sampling_wants << " " << pairs_want << " " << sets_want);
    CHECK(static_cast<double>(budget.spent()) / now <= 90.5);
    if (sampling_wants == 1) CHECK(static_cast<double>(by_use[0]) / now >= (sets_want > 0 ? 53 : 67));
    if (pairs_want == 1) CHECK(static_cast<double>(by_use[1]) / now >= (sets_want > 0 ? 17.5 : 22));
    if (sets_want == 1) CHECK(static_cast<double>(by_use[2]) / now >= 17.5);
    // What others do not want is not lost.
    if (sampling_wants == 1 && pairs_want == 0) CHECK(static_cast<double>(by_use[0]) / now >= 89);
    if (sampling_wants == 0) CHECK(static_cast<double>(by_use[1]) / now >= 89);
  }
}

TEST_CASE("without limit nothing waits and everything is counted; without firmware nothing counts", "[core.command_budget]") {
  FakeClock clock;
  CommandBudget free(0), soft(100, false);
  for (CommandBudget* budget : {&free, &soft}) {
    budget->spend(Use::queue_pairs, 1'000'000, clock.now());
    CHECK(budget->may_ask(Use::queue_pairs, clock.now()));
    CHECK(budget->room(Use::queue_pairs, clock.now()) > 1'000'000);
    CHECK(std::isinf(budget->assured(Use::sampling)));
  }
  CHECK(free.spent() == 1'000'000);
  CHECK(soft.spent() == 0);
}

TEST_CASE("an expensive clock gives way before a cheap one", "[core.command_budget]") {
  const auto parts = [](std::vector<double> wanted, double assured) { return fair_parts(wanted, assured); };
  CHECK(parts({}, 100).empty());
  CHECK(parts({10, 20, 0}, 100) == std::vector<double>{10, 20, 0});
  CHECK(parts({10, 500, 20}, 100) == std::vector<double>{10, 70, 20});
  CHECK(parts({300, 500, 20}, 100) == std::vector<double>{40, 40, 20});
  CHECK(parts({1, 2}, std::numeric_limits<double>::infinity()) == std::vector<double>{1, 2});
}

TEST_CASE("a clock that stands still or goes back gives nothing", "[core.command_budget]") {
  FakeClock clock;
  CommandBudget budget(100);
  budget.spend(Use::sampling, 1000, clock.now());
  const double wait = budget.seconds_to_wait(Use::sampling, clock.now());
  CHECK(budget.seconds_to_wait(Use::sampling, clock.now()) == wait);
  CHECK(budget.seconds_to_wait(Use::sampling, {1}) == wait);
  CHECK(budget.seconds_to_wait(Use::sampling, clock.now()) == wait);
  budget.put_off();
  CHECK(budget.throttled() == 1);
}
