// SPDX-License-Identifier: Apache-2.0
#include "core/set_book.h"

#include <catch2/catch.hpp>
#include <random>

using namespace qpscope;

namespace {

const TenantKey kA{"a", "1"}, kB{"b", "1"};
constexpr PortNum kPort{1};
constexpr std::uint64_t kWrap = std::uint64_t{1} << 32;

BootTime at(double seconds) { return {static_cast<std::uint64_t>(seconds * 1e9)}; }

// A book with a ledger; QP 1xx is a's, 2xx b's, others nobody's.
struct Fixture {
  SetBook book;
  TenantLedger ledger;

  explicit Fixture(const SetImage& image = {}) : book(image) {
    book.counts([](std::string_view name) -> std::optional<SetBook::Part> {
      if (name == "cnp") return std::nullopt;
      if (name == "bytes") return SetBook::Part{kWide, {"counters", "words"}, 4};
      return SetBook::Part{name == "wide" ? kWide : kWraps32, {"hw_counters", std::string(name)}};
    });
  }
  static std::optional<TenantKey> whose(PortNum, Qpn qpn) {
    if (qpn.value / 100 == 1) return kA;
    if (qpn.value / 100 == 2) return kB;
    return std::nullopt;
  }
  static SetBook::Row row(std::uint32_t id, std::vector<std::uint32_t> members, std::uint64_t seq, std::uint64_t rnr = 0, std::uint64_t wide = 0) {
    SetBook::Row out{.id = {id}, .members = {}, .counters = {{"seq", seq}, {"cnp", 0}, {"rnr", rnr}, {"wide", wide}}};
    for (const std::uint32_t qpn : members) out.members.push_back({qpn});
    return out;
  }
  void make(std::uint32_t id, const TenantKey& who, std::vector<std::uint32_t> members, double asked, double made) {
    CounterSet set{.key = {kPort, {id}}, .ours = true, .who = who, .asked = at(asked), .made = at(made)};
    for (const std::uint32_t qpn : members) set.members.push_back({qpn});
    book.make(std::move(set));
  }
  void read(std::vector<SetBook::Row> rows, double to, bool complete = true) { book.read(kPort, rows, complete, at(to), ledger, whose); }
  void release(std::uint32_t id, double when, std::uint64_t seq, std::uint64_t rnr = 0, std::uint64_t wide = 0) {
    book.released({.at = at(when), .device = {0}, .port = kPort, .counter_id = id, .values = {seq, 0, rnr, wide, std::nullopt}, .truncated = false}, ledger);
  }
  std::uint64_t total(const TenantKey& who, const char* counter = "seq") const {
    std::uint64_t out = 0;
    ledger.each("1", [&](const TenantKey& one, CreditMethod, const PortCounter& name, std::uint64_t total) {
      if (one == who && name.name == counter) out += total;
    });
    return out;
  }
};

}  // namespace

TEST_CASE("what a set counts by another name and in another unit is a part of the port's counter", "[core.set_book]") {
  Fixture f;
  const auto row = [&](std::uint64_t bytes) { return SetBook::Row{.id = {1}, .members = {{100}}, .counters = {{"seq", 0}, {"bytes", bytes}}}; };
  CHECK_FALSE(f.book.counts(kPort, {"counters", "words"}));
  f.make(1, kA, {100}, 1, 1.1);
  std::uint64_t bytes = 0;
  for (int i = 0; i < 100; ++i) f.read({row(bytes += 3)}, 2 + i);
  CHECK(f.total(kA, "words") == 75);  // and not 100 times nothing
  CHECK(f.total(kA, "bytes") == 0);
  CHECK(f.book.counts(kPort, {"counters", "words"}));
  CHECK_FALSE(f.book.counts(kPort, {"hw_counters", "words"}));
  CHECK_FALSE(f.book.counts({2}, {"counters", "words"}));
}

TEST_CASE("a set of ours is credited to its tenant, from 0 to its last word", "[core.set_book]") {
  Fixture f;
  f.make(1, kA, {100}, 1, 1.1);
  CHECK_FALSE(f.book.settled(kPort));
  f.read({f.row(1, {100}, 7, 3, 5)}, 2);
  CHECK(f.book.settled(kPort));
  f.read({f.row(1, {100}, 9, 3, 5)}, 3);
  f.release(1, 3.5, 12, 4, kWrap);
  CHECK(f.total(kA) == 12);
  CHECK(f.total(kA, "rnr") == 4);
  CHECK(f.total(kA, "wide") == kWrap);
  CHECK(f.total(kA, "cnp") == 0);
  CHECK_FALSE(f.ledger.take_changed() == false);
  CHECK(f.book.sets(kPort).empty());
  CHECK(f.book.take_missed() == 0);
}

TEST_CASE("a counter that is listed and never counts is nobody's", "[core.set_book]") {
  Fixture f;
  f.make(1, kA, {100}, 1, 1.1);
  f.read({f.row(1, {100}, 0)}, 2);
  std::vector<std::string> names;
  f.ledger.each("1", [&](const TenantKey&, CreditMethod, const PortCounter& name, std::uint64_t) { names.push_back(name.name); });
  CHECK(names == std::vector<std::string>{"rnr", "seq", "wide"});
}

TEST_CASE("a counter of 32 bits wraps, and a fall that is no wrap credits nothing", "[core.set_book]") {
  Fixture f;
  f.make(1, kA, {100}, 1, 1.1);
  f.read({f.row(1, {100}, kWrap - 5)}, 40);
  CHECK(f.total(kA) == kWrap - 5);  // possible in 39 s
  f.read({f.row(1, {100}, 6)}, 41);
  CHECK(f.total(kA) == kWrap + 6);
  f.read({f.row(1, {100}, 100, 50)}, 42);
  f.read({f.row(1, {100}, 3, 2)}, 43);  // the device started again
  CHECK(f.total(kA) == kWrap + 100);
  CHECK(f.total(kA, "rnr") == 50);
  f.read({f.row(1, {100}, 4, 2)}, 44);
  CHECK(f.total(kA) == kWrap + 101);
}

TEST_CASE("a set that died before it was read has its last word alone", "[core.set_book]") {
  Fixture f;
  f.make(1, kB, {200}, 1, 1.1);
  f.read({f.row(1, {200}, 1)}, 2);  // how the port's sets are listed
  f.make(2, kA, {100}, 3, 3.1);
  f.release(2, 3.2, 42, 1);
  CHECK(f.total(kA) == 42);
  CHECK(f.total(kA, "rnr") == 1);
}

TEST_CASE("an id that is used again at once credits each to its own", "[core.set_book]") {
  Fixture f;
  f.make(1, kA, {100}, 1, 1.1);
  f.read({f.row(1, {100}, 10)}, 2);
  f.make(1, kB, {200}, 3, 3.2);  // a's set died before 3.2; its word comes late
  CHECK(f.book.find({kPort, {1}})->who == kB);
  CHECK_FALSE(f.book.settled(kPort));
  f.release(1, 2.9, 15);
  CHECK(f.total(kA) == 15);
  CHECK(f.total(kB) == 0);
  f.read({f.row(1, {200}, 4)}, 4);
  CHECK(f.total(kB) == 4);
  f.release(1, 5, 6);
  CHECK(f.total(kB) == 6);
  CHECK(f.total(kA) == 15);
}

TEST_CASE("both die within the call that made the second", "[core.set_book]") {
  Fixture f;
  f.make(1, kA, {100}, 1, 1.1);
  f.read({f.row(1, {100}, 10)}, 2);
  f.make(1, kB, {200}, 3, 3.5);
  f.release(1, 3.1, 15);  // the kernel had to let go of a's before it could make b's
  f.release(1, 3.3, 2);
  CHECK(f.total(kA) == 15);
  CHECK(f.total(kB) == 2);
}

TEST_CASE("a lost word is not replaced by another set's", "[core.set_book]") {
  Fixture f;
  f.make(1, kA, {100}, 1, 1.1);
  f.read({f.row(1, {100}, 10)}, 2);
  f.make(1, kB, {200}, 3, 3.2);
  f.release(1, 4, 20);  // b's: a's was lost
  CHECK(f.total(kA) == 10);
  CHECK(f.total(kB) == 20);
  CHECK(f.book.take_missed() == 1);
  f.release(1, 0.5, 1000);  // of a set that nobody knew
  CHECK(f.total(kA) + f.total(kB) == 30);
}

TEST_CASE("a set that is gone is waited for, but not for ever", "[core.set_book]") {
  Fixture f;
  f.make(1, kA, {100}, 1, 1.1);
  f.read({f.row(1, {100}, 10)}, 2);
  f.read({}, 3, false);
  CHECK(f.book.settled(kPort));  // cut short: it may still be there
  f.read({}, 4);
  CHECK_FALSE(f.book.settled(kPort));
  f.book.tick(at(4 + SetBook::kReleaseSeconds));
  CHECK_FALSE(f.book.settled(kPort));
  f.book.tick(at(4.1 + SetBook::kReleaseSeconds));
  CHECK(f.book.settled(kPort));
  CHECK(f.book.take_missed() == 1);
  CHECK(f.total(kA) == 10);
}

TEST_CASE("another's set is a tenant's only while all its members are", "[core.set_book]") {
  Fixture f;
  f.read({f.row(1, {100, 101}, 50)}, 1);
  CHECK(f.total(kA) == 0);  // who counted that, nobody knows
  f.read({f.row(1, {100, 101}, 57), f.row(2, {200}, 5)}, 2);
  CHECK(f.total(kA) == 7);
  CHECK(f.total(kB) == 5);  // new since the last reading
  f.read({f.row(1, {100, 200}, 60), f.row(2, {200, 999}, 9)}, 3);
  f.read({f.row(1, {100}, 61), f.row(2, {200}, 10)}, 4);
  CHECK(f.total(kA) == 7);  // two tenants were in it
  CHECK(f.total(kB) == 5);  // one was nobody's
  f.read({f.row(1, {100}, 65), f.row(2, {200}, 12)}, 5);
  CHECK(f.total(kA) == 7);
  CHECK(f.total(kB) == 7);
  f.release(2, 6, 13);
  CHECK(f.total(kB) == 8);
}

TEST_CASE("what a queue pair counted is known only if it was always alone", "[core.set_book]") {
  Fixture f;
  f.make(1, kA, {100}, 1, 1.1);
  f.read({f.row(1, {100}, 7), f.row(2, {200}, 40)}, 2);
  const auto only = [&](std::uint32_t id) { return f.book.find({kPort, {id}})->only_totals; };
  CHECK(only(1) == std::map<std::string, std::uint64_t>{{"rnr", 0}, {"seq", 7}, {"wide", 0}});
  CHECK(only(2).at("seq") == 40);
  f.read({f.row(1, {100}, 8), f.row(2, {201}, 41)}, 3);
  CHECK(only(1).at("seq") == 8);
  CHECK(only(2).empty());
  f.book.join({kPort, {1}}, {101});
  CHECK(only(1).empty());
  f.book.leave({kPort, {1}}, {101});
  f.read({f.row(1, {100}, 9)}, 4);
  CHECK(only(1).empty());
}

TEST_CASE("a restart takes over its own sets and none of others", "[core.set_book]") {
  SetImage image;
  {
    Fixture before;
    before.book.manage(kPort);
    before.make(1, kA, {100}, 1, 1.1);
    before.make(3, kB, {200}, 1, 1.1);
    before.make(4, kB, {201}, 1, 1.1);
    before.read({before.row(1, {100}, 10), before.row(2, {150}, 5), before.row(3, {200}, 30), before.row(4, {201}, 6)}, 2);
    CHECK(before.book.take_changed());
    image = before.book.image();
    CHECK(image.foreign == std::set<SetKey>{{kPort, {2}}});
  }
  Fixture f(image);
  CHECK(f.book.managed(kPort));
  // 4 died, 3 too and another has its id, 5 was made: both by the earlier run right before its end.
  f.read({f.row(1, {100, 101}, 14), f.row(2, {150}, 9), f.row(3, {999}, 2), f.row(5, {201}, 3)}, 9);
  CHECK(f.total(kA) == 4);
  CHECK(f.total(kB) == 3);
  CHECK(f.book.find({kPort, {1}})->ours);
  CHECK_FALSE(f.book.find({kPort, {2}})->ours);
  CHECK(f.book.find({kPort, {3}})->ours);
  CHECK(f.book.find({kPort, {5}})->ours);
  CHECK(f.book.take_missed() == 2);
  CHECK(f.book.settled(kPort));
  f.read({f.row(1, {100, 101}, 14), f.row(2, {150}, 9), f.row(3, {999}, 2), f.row(5, {201}, 3), f.row(6, {100}, 3)}, 10);
  CHECK_FALSE(f.book.find({kPort, {6}})->ours);
  CHECK(f.book.image().foreign == std::set<SetKey>{{kPort, {2}}, {kPort, {6}}});
  f.book.abandon(kPort);
  CHECK(f.book.image().foreign.empty());
}

// Random lives of sets against the truth: with every word told, what is credited is what was counted, whenever it was read.
TEST_CASE("sets that come and go at random lose nothing", "[core.set_book]") {
  std::mt19937 random(4);
  const auto pick = [&](unsigned n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 200; ++round) {
    Fixture f;
    struct Live {
      bool a;
      std::uint64_t value;
    };
    std::map<std::uint32_t, Live> live;
    std::vector<CounterReleased> told;  // not delivered yet
    std::uint64_t truth_a = 0, truth_b = 0;
    double now = 1;
    f.make(9, kA, {100}, 0.5, 0.6);
    live[9] = {true, 0};
    f.read({f.row(9, {100}, 0)}, 1);
    const auto deliver = [&] {
      for (const CounterReleased& event : told) f.book.released(event, f.ledger);
      told.clear();
    };
    for (int step = 0; step < 100; ++step) {
      now += 0.01;
      const std::uint32_t id = 1 + pick(4);
      switch (pick(5)) {
        case 0:
          if (!live.contains(id)) {
            live[id] = {pick(2) == 0, 0};
            f.make(id, live[id].a ? kA : kB, {live[id].a ? 100U : 200U}, now, now + 0.001);
          }
          break;
        case 1:
          if (live.contains(id)) {
            told.push_back({.at = at(now), .device = {0}, .port = kPort, .counter_id = id, .values = {live[id].value % kWrap, 0, 0, 0}, .truncated = false});
            live.erase(id);
          }
          break;
        case 2: {
          deliver();
          std::vector<SetBook::Row> rows;
          for (const auto& [number, set] : live) rows.push_back(f.row(number, {set.a ? 100U : 200U}, set.value % kWrap));
          f.read(rows, now);
          CHECK(f.book.settled(kPort));
          CHECK(f.total(kA) == truth_a);
          CHECK(f.total(kB) == truth_b);
          break;
        }
        default:
          if (live.contains(id)) {
            const std::uint64_t more = pick(3) == 0 ? kWrap / 2 - 1 : pick(1000);
            if (live[id].value % kWrap != live[id].value || more < 1000) {
              live[id].value += more % 1000;
              (live[id].a ? truth_a : truth_b) += more % 1000;
            }
          }
      }
    }
    deliver();
    std::vector<SetBook::Row> rows;
    for (const auto& [number, set] : live) rows.push_back(f.row(number, {set.a ? 100U : 200U}, set.value % kWrap));
    f.read(rows, now + 1);
    CHECK(f.total(kA) == truth_a);
    CHECK(f.total(kB) == truth_b);
    CHECK(f.book.take_missed() == 0);
  }
}
