// SPDX-License-Identifier: Apache-2.0
#include "core/carried_totals.h"

#include <catch2/catch.hpp>

using namespace qpscope;

namespace {

constexpr MetricDef kErrors{"qpscope_errors_total", MetricType::counter, "", LabelNames{"device"}};
constexpr MetricDef kOther{"qpscope_other_total", MetricType::counter, "", LabelNames{"device"}};
constexpr MetricDef kLevel{"qpscope_level", MetricType::gauge, "", LabelNames{"device"}};
constexpr MetricDef kSetup{"qpscope_setup_seconds", MetricType::histogram, "", {}};
constexpr double kBounds[] = {0.1, 1}, kOtherBounds[] = {0.2, 1};

double applied(CarriedTotals& totals, const MetricDef& def, const std::string& label, double value) {
  SampleList list{sample(def, {label}, value)};
  totals.apply(list);
  return std::get<double>(list[0].value);
}
std::vector<std::uint64_t> applied(CarriedTotals& totals, std::span<const double> bounds, std::vector<std::uint64_t> counts, double sum, double expected_sum) {
  SampleList list{{&kSetup, {}, HistogramValue{bounds, std::move(counts), sum}}};
  totals.apply(list);
  CHECK(std::get<HistogramValue>(list[0].value).sum == expected_sum);
  return std::get<HistogramValue>(list[0].value).counts;
}

}  // namespace

TEST_CASE("a counter of a new run goes on where the last one was", "[core.carried_totals]") {
  CarriedTotals first;
  CHECK(applied(first, kErrors, "a", 0) == 0);
  CHECK(applied(first, kErrors, "a", 5) == 5);
  CHECK(applied(first, kErrors, "b", 7) == 7);
  CHECK(applied(first, kOther, "a", 9) == 9);
  CHECK(applied(first, kLevel, "a", 11) == 11);
  CarriedTotals second(first.totals());
  CHECK(applied(second, kErrors, "a", 0) == 5);
  CHECK(applied(second, kErrors, "a", 2) == 7);
  CHECK(applied(second, kErrors, "b", 1) == 8);
  CHECK(applied(second, kOther, "a", 0) == 9);
  CHECK(applied(second, kErrors, "c", 1) == 1);
  CHECK(applied(second, kLevel, "a", 1) == 1);  // a gauge is what it is
  CarriedTotals third(second.totals());
  CHECK(applied(third, kErrors, "a", 1) == 8);
  CHECK(third.forgotten() == 0);
}

TEST_CASE("what is not seen is kept all the same", "[core.carried_totals]") {
  CarriedTotals first;
  applied(first, kErrors, "a", 5);
  CarriedTotals second(first.totals());
  applied(second, kOther, "a", 1);
  CarriedTotals third(second.totals());
  CHECK(applied(third, kErrors, "a", 1) == 6);
}

TEST_CASE("a source that starts again within the run makes nothing fall", "[core.carried_totals]") {
  CarriedTotals totals;
  CHECK(applied(totals, kErrors, "a", 50) == 50);
  CHECK(applied(totals, kErrors, "a", 3) == 53);
  CHECK(applied(totals, kErrors, "a", 4) == 54);
  CHECK(applied(totals, kErrors, "a", 0) == 54);
  CarriedTotals next(totals.totals());
  CHECK(applied(next, kErrors, "a", 1) == 55);
}

TEST_CASE("histograms go on bucket by bucket", "[core.carried_totals]") {
  using Counts = std::vector<std::uint64_t>;
  CarriedTotals first;
  CHECK(applied(first, kBounds, {1, 2, 3}, 4.5, 4.5) == Counts{1, 2, 3});
  CarriedTotals second(first.totals());
  CHECK(applied(second, kBounds, {0, 0, 0}, 0, 4.5) == Counts{1, 2, 3});
  CHECK(applied(second, kBounds, {4, 0, 1}, 1, 5.5) == Counts{5, 2, 4});
  CHECK(applied(second, kBounds, {0, 1, 1}, 1, 6.5) == Counts{5, 3, 5});  // fewer in one bucket: it started again
  CarriedTotals third(second.totals());
  CHECK(applied(third, kOtherBounds, {1, 0, 0}, 0.1, 0.1) == Counts{1, 0, 0});  // of another version
  CarriedTotals fourth(std::make_shared<const std::vector<CarriedTotal>>(std::vector<CarriedTotal>{{"qpscope_setup_seconds", {}, 5.0}}));
  CHECK(applied(fourth, kBounds, {1, 0, 0}, 0.1, 0.1) == Counts{1, 0, 0});
}

TEST_CASE("totals are the same until something moves", "[core.carried_totals]") {
  CarriedTotals totals;
  CHECK(totals.totals() == nullptr);
  applied(totals, kErrors, "a", 0);
  const auto zero = totals.totals();
  REQUIRE(zero);
  applied(totals, kErrors, "a", 0);
  CHECK(totals.totals() == zero);
  applied(totals, kErrors, "a", 1);
  CHECK(totals.totals() != zero);
  CarriedTotals next(totals.totals());
  CHECK(next.totals() == totals.totals());
  applied(next, kErrors, "a", 0);
  CHECK(next.totals() == totals.totals());
}

TEST_CASE("of two samples that are alike the first counts", "[core.carried_totals]") {
  CarriedTotals totals;
  for (int round = 0; round < 3; ++round) {
    SampleList list{sample(kErrors, {"a"}, 5), sample(kErrors, {"a"}, 2)};
    totals.apply(list);
    CHECK(std::get<double>(list[0].value) == 5);
  }
  CHECK(std::get<double>(totals.totals()->at(0).value) == 5);
}

TEST_CASE("those not seen for longest make room", "[core.carried_totals]") {
  CarriedTotals totals;
  const auto list_of = [](std::size_t from, std::size_t to) {
    SampleList list;
    for (std::size_t i = from; i < to; ++i) list.push_back(sample(kErrors, {std::to_string(i)}, 1));
    return list;
  };
  SampleList all = list_of(0, CarriedTotals::kMost), half = list_of(0, CarriedTotals::kMost / 2), more = list_of(CarriedTotals::kMost, CarriedTotals::kMost + 10);
  totals.apply(all);
  totals.apply(half);
  CHECK(totals.forgotten() == 0);
  totals.apply(more);  // ten of those seen in the first round alone
  CHECK(totals.forgotten() == 10);
  CHECK(totals.totals()->size() == CarriedTotals::kMost);
  CarriedTotals next(totals.totals());
  CHECK(next.totals()->back().labels[0] == std::to_string(CarriedTotals::kMost + 9));
  CHECK(applied(next, kErrors, "0", 1) == 2);
  CHECK(applied(next, kErrors, std::to_string(CarriedTotals::kMost + 9), 1) == 2);
  CHECK(next.forgotten() == 0);
  // More at once than are kept: the last ones start anew with the next run, which is counted once.
  SampleList flood = list_of(0, CarriedTotals::kMost + 10);
  CarriedTotals fresh;
  for (int round = 0; round < 3; ++round) {
    SampleList again = flood;
    fresh.apply(again);
    CHECK(std::get<double>(again.back().value) == 1);
  }
  CHECK(fresh.forgotten() == 10);
  CHECK(fresh.totals()->size() == CarriedTotals::kMost);
}
