// SPDX-License-Identifier: Apache-2.0
#include "core/event_history.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>

#include "support/fake_clock.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

using Ids = std::vector<std::uint64_t>;

BootTime at(double seconds) { return after(BootTime{kSecond}, seconds); }

void add(EventHistory& history, HistoryKind kind, BootTime now) {
  history.add(kind, now, [&] { return HistoryEvent{.at = now, .device = "mlx5_0", .message = "m"}; });
}

Ids ids(const EventHistory& history, std::optional<std::uint64_t> after = std::nullopt) {
  Ids out;
  for (const SharedEvent& one : history.since(after).events) out.push_back(one->id);
  return out;
}

double value(const SampleList& samples, std::string_view family, std::string_view kind) {
  const auto found = std::ranges::find_if(samples, [&](const Sample& one) { return one.def->name == family && one.labels[0] == kind; });
  REQUIRE(found != samples.end());
  return std::get<double>(found->value);
}

}  // namespace

TEST_CASE("events come back in the order in which they came, of all kinds", "[core.event_history]") {
  EventHistory history(100);
  CHECK(ids(history).empty());
  CHECK(history.since({}).newest == 100);
  add(history, HistoryKind::port_state, at(0));
  add(history, HistoryKind::queue_pair_error, at(1));
  add(history, HistoryKind::port_state, at(2));
  const auto all = history.since({});
  CHECK(ids(history) == Ids{101, 102, 103});
  CHECK(all.newest == 103);
  CHECK(all.dropped == 0);
  CHECK(all.events[1]->kind == HistoryKind::queue_pair_error);
  CHECK(all.events[1]->at == at(1));
}

TEST_CASE("a cursor", "[core.event_history]") {
  EventHistory history(100);
  for (int i = 0; i < 3; ++i) add(history, HistoryKind::port_state, at(i));
  CHECK(ids(history, 100) == Ids{101, 102, 103});
  CHECK(ids(history, 102) == Ids{103});
  CHECK(ids(history, 103).empty());
  CHECK(ids(history, 0) == Ids{101, 102, 103});                  // an earlier run's
  CHECK(ids(history, ~std::uint64_t{0}).empty());                // one that never was
  CHECK(history.since(~std::uint64_t{0}).newest == 103);
}

TEST_CASE("a storm of one kind leaves the others, and is cut off", "[core.event_history]") {
  EventHistory history;
  add(history, HistoryKind::port_state, at(0));
  std::size_t made = 0;
  for (int i = 0; i < 100'000; ++i) {
    history.add(HistoryKind::queue_pair_error, at(1), [&] { return ++made, HistoryEvent{}; });
  }
  const HistoryKindRow& row = history_kinds()[static_cast<std::size_t>(HistoryKind::queue_pair_error)];
  CHECK(made == row.most_minute);
  CHECK(history.since({}).dropped == 100'000 - row.most_minute);
  CHECK(ids(history).size() == row.most_minute + 1);
  CHECK(ids(history).front() == 1);
  CHECK(value(history.samples(), "qpscope_events_total", "queue_pair_error") == 100'000);
  CHECK(value(history.samples(), "qpscope_events_dropped_total", "queue_pair_error") == 100'000.0 - static_cast<double>(row.most_minute));
  CHECK(value(history.samples(), "qpscope_events_total", "port_state") == 1);
  CHECK(value(history.samples(), "qpscope_events_dropped_total", "port_state") == 0);
}

TEST_CASE("a kind keeps its newest, whatever time brings", "[core.event_history]") {
  EventHistory history;
  add(history, HistoryKind::port_state, at(0));
  const HistoryKindRow& row = history_kinds()[static_cast<std::size_t>(HistoryKind::device_added)];
  std::size_t added = 0;
  for (int minute = 0; minute < 5; ++minute) {
    for (std::size_t i = 0; i < row.most_minute; ++i, ++added) add(history, HistoryKind::device_added, at(61.0 * minute + 1));
  }
  const Ids kept = ids(history);
  CHECK(history.since({}).dropped == 0);
  REQUIRE(kept.size() == row.most + 1);
  CHECK(kept[0] == 1);  // the other kind's
  CHECK(kept[1] == 1 + added - row.most + 1);
  CHECK(kept.back() == 1 + added);
}

TEST_CASE("every kind has a name of its own and bounds", "[core.event_history]") {
  std::size_t most = 0;
  for (const HistoryKindRow& row : history_kinds()) {
    CHECK(history_kind(row.name) == row.kind);
    CHECK(row.most > 0);
    CHECK(row.most_minute > 0);
    most += row.most;
  }
  CHECK(most <= 4096);
  CHECK_FALSE(history_kind("nonsense"));
  CHECK_FALSE(history_kind(""));
}

TEST_CASE("several threads add while one reads", "[core.event_history]") {
  EventHistory history;
  std::vector<std::thread> threads;
  for (const HistoryKind kind : {HistoryKind::port_state, HistoryKind::queue_pair_error, HistoryKind::queue_pair_failed}) {
    threads.emplace_back([&history, kind] {
      for (int i = 0; i < 1000; ++i) add(history, kind, at(i));
    });
  }
  for (int i = 0; i < 100; ++i) CHECK(std::ranges::is_sorted(ids(history)));
  for (std::thread& one : threads) one.join();
  const auto all = history.since({});
  CHECK(all.newest + all.dropped == 3000);
}
