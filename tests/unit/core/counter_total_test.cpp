// SPDX-License-Identifier: Apache-2.0
#include "core/counter_total.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <initializer_list>
#include <vector>

using namespace qpscope;
using Step = CounterTotal::Step;

namespace {

constexpr double kOneSecond = 370e6;  // events
constexpr std::uint64_t kMost64 = ~std::uint64_t{0};
constexpr std::uint64_t k2to32 = std::uint64_t{1} << 32;

struct After {
  double total;
  std::vector<Step> steps;
};
After samples(CounterKind kind, std::initializer_list<std::uint64_t> raws, bool settles = false, double most = kOneSecond) {
  CounterTotal total;
  After out{};
  for (const std::uint64_t raw : raws) out.steps.push_back(total.sample(raw, kind, most, settles));
  out.total = total.value();
  return out;
}
std::size_t resets(const After& after) { return static_cast<std::size_t>(std::ranges::count(after.steps, Step::reset)); }

}  // namespace

TEST_CASE("a total starts at the kernel's value and follows it", "[core.counter_total]") {
  CHECK(samples(kWide, {7}).total == 7);
  CHECK(samples(kWide, {7, 7, 9, 20}).total == 20);
  CHECK(samples(kWraps32, {7, 4'000'000'000}).total == 4e9);  // a rise is what it looks like: sums may have any step
  CHECK(samples(kWide, {0, kMost64}).total == static_cast<double>(kMost64));
  CHECK(samples(kWide, {7, 9}).steps == std::vector{Step::first, Step::added});
}

TEST_CASE("a 32-bit counter wraps: the step is signed, modulo 2^32", "[core.counter_total]") {
  CHECK(samples(kWraps32, {4'294'967'290, 5}).total == 4'294'967'301);
  CHECK(samples(kWraps32, {5'000'000'000, 5'000'000'010 - k2to32}).total == 5'000'000'010);  // one summand's wrap
  const After twice = samples(kWraps32, {4'294'967'290, 5, 2'000'000'000, 4'294'967'295, 0, 1});
  CHECK(twice.total == 2.0 * k2to32 + 1);
  CHECK(resets(twice) == 0);
}

TEST_CASE("a fall is a reset once a second sample confirms it", "[core.counter_total]") {
  const After wide = samples(kWide, {1'000'000'000'000, 0, 0});
  CHECK(wide.total == 1e12);
  CHECK(wide.steps == std::vector{Step::first, Step::waiting, Step::reset});
  CHECK(samples(kWide, {1'000'000'000'000, 0, 5, 9}).total == 1e12 + 9);  // what came after the first low sample counts
  const After narrow = samples(kWraps32, {4000, 3, 3});
  CHECK(narrow.total == 4000);
  CHECK(resets(narrow) == 1);
  CHECK(resets(samples(kWraps32, {7'000'000'000, 0, 0})) == 1);   // too far for one wrap
  CHECK(resets(samples(kWraps32, {2 * k2to32 - 5, 0, 0})) == 1);  // the same, though modulo 2^32 it is near
  CHECK(resets(samples(saturating(16), {65535, 2, 2})) == 1);
  // Low once is no reset.
  const After blip = samples(kWide, {100, 90, 110});
  CHECK(blip.total == 110);
  CHECK(resets(blip) == 0);
  // Twice reset is reset twice.
  const After again = samples(kWide, {100, 10, 10, 20, 1, 2});
  CHECK(again.total == 111);
  CHECK(resets(again) == 2);
}

TEST_CASE("more than could have happened is no wrap", "[core.counter_total]") {
  CHECK(samples(kWraps32, {4'294'967'290, 1'000'000'000, 1'000'000'000}, false, 1e9).total == 4'294'967'290);
  CHECK(samples(kWraps32, {4'294'967'290, 1'000'000'000, 1'000'000'000}, false, 1.1e9).total == 5'294'967'296);
}

TEST_CASE("64 bits wrap too", "[core.counter_total]") {
  const After after = samples(kWide, {kMost64 - 5, 5});
  CHECK(after.steps.back() == Step::added);
  CounterTotal total;
  total.sample(kMost64 - 5, kWide, kOneSecond, false);
  total.sample(5, kWide, kOneSecond, false);
  CHECK(total.state().total == (static_cast<unsigned __int128>(1) << 64) + 5);
}

TEST_CASE("a port with counter sets: a surplus is neither kept nor a reset", "[core.counter_total]") {
  for (const CounterKind kind : {kWraps32, kWide}) {
    const After released = samples(kind, {100, 140, 110, 110}, true);
    CHECK(released.total == 110);
    CHECK(resets(released) == 0);
    // It never fell on the way.
    CHECK(samples(kind, {100, 140}, true).total == 100);
    CHECK(samples(kind, {100, 140, 110}, true).total == 110);
    CHECK(samples(kind, {100, 140, 150}, true).total == 140);
    CHECK(samples(kind, {100, 140, 150, 150}, true).total == 150);
    CHECK(samples(kind, {100, 140, 100, 100}, true).total == 100);
    CHECK(resets(samples(kind, {100, 140, 100, 100}, true)) == 0);
    CHECK(resets(samples(kind, {100, 140, 3, 3}, true)) == 1);
  }
  CHECK(samples(kWraps32, {4'294'967'290, 5}, true).total == 4'294'967'301);  // a wrap is none
  CHECK(samples(kWraps32, {4'294'967'100, 4'294'967'290, 5, 5}, true).total == 4'294'967'301);
  CHECK(samples(kWraps32, {100, 4'294'967'290, 200}, true).total == 4'294'967'496);
  CHECK(resets(samples(kWide, {100, 140, 110, 110})) == 1);                      // without sets it is one
}

TEST_CASE("where no sets are known, a fall to half or more of a 32-bit counter is a surplus that went away", "[core.counter_total]") {
  const After released = samples(kWraps32, {100, 140, 110, 120, 150});
  CHECK(released.total == 150);
  CHECK(released.steps == std::vector{Step::first, Step::added, Step::surplus, Step::surplus, Step::added});
  CHECK(samples(kWraps32, {100, 140, 110}).total == 140);  // what was shown is not taken back
  CHECK(samples(kWraps32, {100, 50}).steps.back() == Step::surplus);
  CHECK(samples(kWraps32, {101, 51}).steps.back() == Step::surplus);
  CHECK(samples(kWraps32, {101, 50}).steps.back() == Step::waiting);
  CHECK(samples(kWraps32, {1, 0}).steps.back() == Step::waiting);
  // It wraps while it stands: 3,900,000,000 was true.
  const After wrapped = samples(kWraps32, {3'900'000'000, 4'000'000'000, 3'900'000'000, 5});
  CHECK(wrapped.total == 4'294'967'301);
  CHECK(resets(wrapped) == 0);
  // One summand's wrap is still that, and a reset a reset, also on the way back.
  CHECK(samples(kWraps32, {9'000'000'000, 9'000'000'010 - k2to32}).total == 9'000'000'010);
  CHECK(resets(samples(kWraps32, {4000, 3, 3})) == 1);
  CHECK(resets(samples(kWraps32, {100, 140, 110, 3, 4})) == 1);
  CHECK(samples(kWraps32, {100, 140, 110, 3, 4}).total == 141);
  CHECK(samples(kWraps32, {100, 3, 60}).total == 157);
  // Other counters have no sets.
  CHECK(resets(samples(kWide, {100, 90, 90})) == 1);
  CHECK(resets(samples(saturating(16), {100, 90, 90})) == 1);
}

TEST_CASE("after a gap in which 2^31 events were possible nothing is guessed", "[core.counter_total]") {
  constexpr double kGap = 2147483648.0;
  CHECK(samples(kWraps32, {100, 150}, false, kGap).steps.back() == Step::gap);
  CHECK(samples(kWraps32, {100, 150}, false, kGap).total == 150);
  CHECK(samples(kWraps32, {4'294'967'290, 5}, false, kGap).total == 4'294'967'290);  // a wrap, or a reset?
  CHECK(samples(kWraps32, {100, 100}, false, kGap).steps.back() == Step::added);     // nothing moved, nothing is lost
  CHECK(samples(kWide, {100, 150}, false, kGap).steps.back() == Step::added);
  CHECK(samples(saturating(8), {100, 150}, false, kGap).steps.back() == Step::added);
  // Counted on from there.
  CounterTotal total;
  total.sample(4'294'967'290, kWraps32, kOneSecond, false);
  total.sample(5, kWraps32, kGap, false);
  total.sample(8, kWraps32, kOneSecond, false);
  CHECK(total.value() == 4'294'967'293);
}

TEST_CASE("saturated is at the maximum of its width", "[core.counter_total]") {
  CHECK(saturated(15, saturating(4)));
  CHECK(saturated(255, saturating(8)));
  CHECK(saturated(65535, saturating(16)));
  CHECK(saturated(4'294'967'295, saturating(32)));
  CHECK_FALSE(saturated(254, saturating(8)));
  CHECK_FALSE(saturated(4'294'967'295, kWraps32));
  CHECK_FALSE(saturated(kMost64, kWide));
}

TEST_CASE("a total goes on from what was kept", "[core.counter_total]") {
  CounterTotal total(CounterState{.total = 5'000'000'000, .last = 4'294'967'290});
  CHECK(total.sample(5, kWraps32, kOneSecond, false) == Step::added);
  CHECK(total.value() == 5'000'000'011);
}

TEST_CASE("over a gap what the sets have counted tells how often a summand wrapped", "[core.counter_total]") {
  struct Sample {
    std::uint64_t raw, counted;
  };
  const auto after = [](std::initializer_list<Sample> list, bool settles) {
    CounterTotal total;
    std::vector<Step> steps;
    for (const Sample& one : list) steps.push_back(total.sample(one.raw, kWraps32, 12e9, settles, one.counted));
    return std::pair(total.value(), steps);
  };
  // Two sets, each counts 3e9 in every interval; the second reading finds both wrapped, the port's own set is quiet.
  const std::uint64_t each = 3'000'000'000, shown = 2 * ((2 * each) % k2to32);
  CHECK(after({{0, 0}, {2 * each, 2 * each}, {shown, 4 * each}}, false) == std::pair(4.0 * each, std::vector{Step::first, Step::added, Step::added}));
  // The sets were read somewhat before the port.
  CHECK(after({{0, 0}, {2 * each, 2 * each - 100'000'000}, {shown, 4 * each - 700'000'000}}, false).first == 4.0 * each);
  // Without anything in sets a rise is a rise, and a fall is none.
  CHECK(after({{100, 0}, {150, 0}, {150, 0}}, false) == std::pair(150.0, std::vector{Step::first, Step::added, Step::added}));
  CHECK(after({{1000, 5}, {3, 5}, {4, 5}}, false).second.back() == Step::reset);
  // A surplus is waited out here too.
  const auto surplus = after({{100, 50}, {300, 100}, {150, 100}, {150, 100}}, true);
  CHECK(surplus.first == 150);
  CHECK(after({{0, 0}, {2 * each, 2 * each}, {shown, 4 * each}, {shown, 4 * each}}, true).first == 4.0 * each);
}
