// SPDX-License-Identifier: Apache-2.0
// The counters of one folder: what each means, looked up once when it is first seen, and the canonical series that they feed, added up where
// several counters feed one. Asked for in the same order on each pass, which no order has to be. Not thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/vocabulary/vocabulary.h"

namespace qpscope {

class KnownCounters {
 public:
  static constexpr std::size_t kMost = 4096;  // names; beyond that each is looked up anew, and feeds nothing

  struct Counter {
    CounterShape shape;
    const CounterRow* row = nullptr;  // null: its name alone is known
    bool of_representor = false;
    std::optional<std::size_t> series = {};
    Labels labels = {};  // of its own series: the collector's to fill
  };
  // A canonical series. Complete: every counter that feeds it was added in this pass; a sum without one of its parts would fall.
  struct Series {
    const CounterRow* meaning;
    bool of_representor;
    Labels labels = {};  // the collector's to fill
    std::size_t parts = 0, added = 0;
    double value = 0;                // in the family's unit
    std::optional<double> rate = 0;  // the same a second
    bool complete() const { return parts == added; }
  };

  explicit KnownCounters(std::string_view driver) : driver_(driver) {}

  // Until the next find(): beyond kMost there is one place for all.
  Counter& find(std::string_view name);
  // Its total in this pass, and its events a second, if known.
  void add(const Counter& counter, double total, std::optional<double> rate);
  // The last total of a counter that the ledger has: one that feeds a sum and is not here any more stays in it, or the sum would fall.
  void add_gone(std::string_view name, double total);
  bool has_sums() const { return has_sums_; }
  // Calls take(Series&) for each that is complete; then begins the next pass.
  template <class Take>
  void end_pass(Take take) {
    for (Series& one : series_) {
      if (one.complete()) take(one);
      one.added = 0;
      one.value = 0;
      one.rate = 0;
    }
  }

  // A counter here means the same of the same function.
  bool feeds(const CounterRow& meaning) const;
  bool has_representor() const { return has_representor_; }
  // Names without a row.
  const std::set<std::string, std::less<>>& unmapped() const { return unmapped_; }
  bool empty() const { return counters_.empty(); }

 private:
  struct Known {
    Counter counter;
    std::map<std::string, Known, std::less<>>::value_type* next = nullptr;  // who was asked for after it
  };
  using Node = std::map<std::string, Known, std::less<>>::value_type;
  std::size_t series_of(const CounterRow& row, bool of_representor);

  std::string driver_;
  std::map<std::string, Known, std::less<>> counters_;
  Node* last_ = nullptr;  // asked for
  Counter beyond_;        // kMost
  std::vector<Series> series_;
  std::set<std::string, std::less<>> unmapped_;
  bool has_representor_ = false, has_sums_ = false;
};

}  // namespace qpscope
