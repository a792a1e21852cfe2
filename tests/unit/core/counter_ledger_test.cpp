// SPDX-License-Identifier: Apache-2.0
#include "core/counter_ledger.h"

#include <catch2/catch.hpp>
#include <iterator>

#include "support/fake_clock.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

constexpr CounterKeyView kKey{"1", "hw_counters", "out_of_sequence"};

// A ledger and the time.
struct Book {
  CounterLedger ledger;
  FakeClock clock;
  std::optional<double> rate = {};  // of the last sample

  double after(double seconds, std::uint64_t raw, CounterKind kind = kWraps32, CounterKeyView key = kKey, bool settles = false) {
    clock.pass(seconds);
    const CounterLedger::Counted counted = ledger.count(key, raw, kind, clock.now(), settles).value();
    rate = counted.rate;
    return counted.total;
  }
  CounterFaults faults(const std::string& port = "1") const { return ledger.image().ports.at(port); }
};

}  // namespace

TEST_CASE("counters are told apart by port, folder and every byte of their name", "[core.counter_ledger]") {
  Book book;
  const CounterKeyView keys[] = {kKey, {"2", "hw_counters", "out_of_sequence"}, {"1", "counters", "out_of_sequence"}, {"", "hw_counters", "out_of_sequence"},
                                 {"1", "hw_counters", "a b"}, {"1", "hw_counters", "a_b"}, {"1", "hw_counters", "a,b"}, {"1", "hw_counters", "a\"b"}};
  for (std::size_t i = 0; i < std::size(keys); ++i) CHECK(book.after(0, i, kWide, keys[i]) == static_cast<double>(i));
  for (std::size_t i = 0; i < std::size(keys); ++i) CHECK(book.after(1, 10 * i, kWide, keys[i]) == static_cast<double>(10 * i));
  CHECK(book.ledger.image().counters.size() == std::size(keys));
}

TEST_CASE("time decides whether a difference can be a wrap", "[core.counter_ledger]") {
  Book book;
  book.after(0, 4'294'967'290);
  CHECK(book.after(1, 5) == 4'294'967'301);
  CHECK(book.faults() == CounterFaults{});
  // A line of 10 Gb/s carries at most 20 million packets a second.
  book.ledger.line_rate("1", 1.25e9);
  book.after(1, 4'294'967'000);
  CHECK(book.after(1, 200'000'000) == 8'589'934'296);  // a fall, for now
  CHECK(book.after(1, 200'000'000) == 8'589'934'296);
  CHECK(book.faults() == CounterFaults{.resets = 1, .gaps = 0});
  // Another port's rate is not known.
  const CounterKeyView other{"2", "hw_counters", "out_of_sequence"};
  book.after(0, 4'294'967'000, kWraps32, other);
  CHECK(book.after(1, 200'000'000, kWraps32, other) == 4'494'967'296);
}

TEST_CASE("a long silence is a gap for 32-bit counters that moved", "[core.counter_ledger]") {
  Book book;
  book.after(0, 100);
  CHECK(book.after(5, 110) == 110);
  CHECK(book.faults().gaps == 0);
  CHECK(book.after(60, 110) == 110);
  CHECK(book.faults().gaps == 0);
  CHECK(book.after(60, 120) == 120);
  CHECK(book.faults().gaps == 1);
  CHECK(book.after(60, 5) == 120);  // wrapped or started again
  CHECK(book.faults() == CounterFaults{.resets = 0, .gaps = 2});
  CHECK(book.after(1, 6) == 121);
  // A slow line needs longer for as many: 1 Gb/s is 2 million a second, so a minute is no gap.
  book.ledger.line_rate("1", 1.25e8);
  CHECK(book.after(60, 16) == 131);
  CHECK(book.faults().gaps == 2);
}

TEST_CASE("resets are counted by port, also the device's own", "[core.counter_ledger]") {
  Book book;
  const CounterKeyView own{"", "hw_counters", "cmds_err"};
  for (const std::uint64_t raw : {50, 2, 3}) {
    book.after(1, raw, kWide, own);
    book.after(0, raw, kWide);
  }
  CHECK(book.faults("").resets == 1);
  CHECK(book.faults("1").resets == 1);
  CHECK(book.after(1, 4, kWide, own) == 52);
}

TEST_CASE("while it settles, a rise waits for the next sample", "[core.counter_ledger]") {
  Book book;
  CHECK(book.after(1, 100, kWraps32, kKey, true) == 100);
  CHECK(book.after(1, 140, kWraps32, kKey, true) == 100);
  CHECK(book.after(1, 110, kWraps32, kKey, true) == 110);
  CHECK(book.after(1, 110, kWraps32, kKey, true) == 110);
  CHECK(book.faults() == CounterFaults{});
}

TEST_CASE("a total that stands over a surplus sees no gap, however long it takes", "[core.counter_ledger]") {
  Book book;
  book.after(1, 100);
  book.after(1, 140);
  for (int i = 0; i < 30; ++i) CHECK(book.after(1, 110) == 140);
  CHECK(book.after(1, 139) == 140);
  CHECK(book.after(1, 141) == 141);
  CHECK(book.faults() == CounterFaults{});
}

TEST_CASE("only what moved is a change", "[core.counter_ledger]") {
  Book book;
  CHECK_FALSE(book.ledger.take_changed());
  book.after(0, 0);
  CHECK(book.ledger.take_changed());
  CHECK_FALSE(book.ledger.take_changed());
  book.after(1, 0);
  CHECK_FALSE(book.ledger.take_changed());
  book.after(1, 1);
  CHECK(book.ledger.take_changed());
}

TEST_CASE("an image is all that a restart needs", "[core.counter_ledger]") {
  Book book;
  book.after(0, 4'294'967'290);
  book.after(1, 5);
  book.after(1, 4'294'967'290);
  for (const std::uint64_t raw : {9, 1, 1}) book.after(0, raw, kWide, {"2", "counters", "symbol error"});
  const LedgerImage image = book.ledger.image();
  book.ledger = CounterLedger(image);
  CHECK(book.ledger.image() == image);
  CHECK_FALSE(book.ledger.take_changed());
  CHECK(book.after(2, 7) == 2.0 * 4'294'967'296 + 7);
  CHECK(book.after(0, 2, kWide, {"2", "counters", "symbol error"}) == 10);
  CHECK(book.faults("2").resets == 1);
  CHECK(book.faults("1") == CounterFaults{});
}

TEST_CASE("a clock that an image is ahead of harms nobody", "[core.counter_ledger]") {
  Book book;
  book.after(100, 4'294'967'290);
  const LedgerImage image = book.ledger.image();
  Book earlier;
  earlier.ledger = CounterLedger(image);
  CHECK(earlier.after(0, 5) == 4'294'967'301);
  LedgerImage without_ports = image;
  without_ports.ports.clear();
  earlier.ledger = CounterLedger(without_ports);
  earlier.after(1, 4000);
  earlier.after(1, 4000);
  CHECK(earlier.faults().resets == 0);
}

TEST_CASE("there is an end to counters", "[core.counter_ledger]") {
  Book book;
  for (std::size_t i = 0; i < CounterLedger::kMost; ++i) book.after(0, i, kWide, {"1", "hw_counters", std::to_string(i)});
  CHECK_FALSE(book.ledger.count({"1", "hw_counters", "one more"}, 1, kWide, book.clock.now()));
  CHECK(book.after(0, 5, kWide, {"1", "hw_counters", "3"}) == 5);
}

TEST_CASE("a rate is what two good samples of this run say", "[core.counter_ledger]") {
  Book book;
  book.after(0, 100);
  CHECK_FALSE(book.rate);
  book.after(2, 140);
  CHECK(book.rate == 20);
  book.after(0, 150);
  CHECK_FALSE(book.rate);  // no time went by
  book.after(1, 4'294'967'295);
  book.after(1, 9);
  CHECK(book.rate == 10);  // a wrap
  book.after(1, 5);
  CHECK_FALSE(book.rate);  // a fall that may be a reset
  book.after(1, 19);
  CHECK_FALSE(book.rate);  // or not
  book.after(1, 29);
  CHECK(book.rate == 10);
  for (const std::uint64_t raw : {3, 3, 4}) {
    book.after(1, raw);
    CHECK_FALSE(book.rate);
  }
  book.after(1, 6);
  CHECK(book.rate == 2);
  book.ledger = CounterLedger(book.ledger.image());
  book.after(1, 7);
  CHECK_FALSE(book.rate);
  book.after(60, 10);
  CHECK_FALSE(book.rate);  // a gap
  book.after(0, 14, saturating(4), {"1", "counters", "x"});
  book.after(1, 15, saturating(4), {"1", "counters", "x"});
  CHECK_FALSE(book.rate);
}

TEST_CASE("a line rate can be forgotten", "[core.counter_ledger]") {
  Book book;
  CHECK_FALSE(book.ledger.line_rate("1"));
  book.ledger.line_rate("1", 1.25e9);
  CHECK(book.ledger.line_rate("1") == 1.25e9);
  book.ledger.line_rate("1", std::nullopt);
  CHECK_FALSE(book.ledger.line_rate("1"));
}

TEST_CASE("what we observe ourselves adds up, and is part of the image", "[core.counter_ledger]") {
  Book book;
  const ObservedKey downs{"1", "link_downs"}, rx{"1", "rx"};
  constexpr double kBounds[] = {0.1, 1};
  CHECK_FALSE(book.ledger.observed(downs));
  CHECK(book.ledger.histogram(rx) == nullptr);
  CHECK(book.ledger.add(downs, 0) == 0);
  CHECK(book.ledger.take_changed());
  CHECK(book.ledger.add(downs, 0) == 0);
  CHECK_FALSE(book.ledger.take_changed());
  CHECK(book.ledger.add(downs, 3) == 3);
  CHECK(book.ledger.add({"2", "link_downs"}, 1) == 1);
  CHECK(book.ledger.take_changed());
  for (const double value : {0.0, 0.1, 0.5, 1.0, 7.0}) CHECK(book.ledger.observe(rx, kBounds, value));
  CHECK(book.ledger.take_changed());
  CHECK(book.ledger.histogram(rx)->counts == std::vector<std::uint64_t>{2, 2, 1});
  CHECK(book.ledger.histogram(rx)->sum == Approx(8.6));

  CounterLedger next(book.ledger.image());
  CHECK(next.image() == book.ledger.image());
  CHECK(next.add(downs, 1) == 4);
  CHECK(next.observe(rx, kBounds, 1));
  CHECK(next.histogram(rx)->counts == std::vector<std::uint64_t>{2, 3, 1});
  // Bounds of another version: what was counted by the old ones says nothing about these.
  constexpr double kOther[] = {0.2, 1};
  CHECK(next.observe(rx, kOther, 0.15));
  CHECK(next.histogram(rx)->counts == std::vector<std::uint64_t>{1, 0, 0});
}

TEST_CASE("there is an end to what we observe", "[core.counter_ledger]") {
  Book book;
  constexpr double kBounds[] = {1};
  for (std::size_t i = 0; i < CounterLedger::kMostObserved; ++i) {
    book.ledger.add({"1", std::to_string(i)}, 1);
    book.ledger.observe({"1", std::to_string(i)}, kBounds, 1);
  }
  CHECK_FALSE(book.ledger.add({"1", "one more"}, 1));
  CHECK_FALSE(book.ledger.observe({"1", "one more"}, kBounds, 1));
  CHECK(book.ledger.add({"1", "3"}, 1) == 2);
}
