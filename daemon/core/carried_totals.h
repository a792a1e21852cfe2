// SPDX-License-Identifier: Apache-2.0
// Counters and histograms that start at 0 with the daemon, made to go on where the run before left them: read errors, events,
// transitions. By family and labels, whoever counts them. What the kernel counts has its ledger (counter_ledger.h).
//
// Within a run, too, a source may start again: a device that comes back has a new sampler. A value below the one before counts on
// from what was shown.
//
// Not thread-safe.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/histogram.h"
#include "core/metric.h"

namespace qpscope {

struct CarriedTotal {
  std::string family;
  Labels labels;
  std::variant<double, Histogram> value;
  friend bool operator==(const CarriedTotal&, const CarriedTotal&) = default;
};
// The longest not seen first. Shared and never changed: the same pointer means that nothing moved.
using SharedCarriedTotals = std::shared_ptr<const std::vector<CarriedTotal>>;

class CarriedTotals {
 public:
  static constexpr std::size_t kMost = 4096;  // series

  CarriedTotals() = default;
  // Goes on from what an earlier run left; null: nothing.
  explicit CarriedTotals(const SharedCarriedTotals& earlier);

  // Adds to every counter and histogram among the samples what was counted before. Where there is no room for a new one, those not
  // seen for longest are forgotten; where all are seen, the new one is not kept.
  void apply(SampleList& samples);

  // How many totals were forgotten or not kept. A counter.
  std::uint64_t forgotten() const { return forgotten_; }
  SharedCarriedTotals totals();

 private:
  using Value = std::variant<double, Histogram>;
  struct KeyView {
    std::string_view family;
    const Labels& labels;
  };
  struct Key {
    std::string family;
    Labels labels;
    KeyView view() const { return {family, labels}; }
  };
  struct Less {
    using is_transparent = void;
    static KeyView view(const KeyView& key) { return key; }
    static KeyView view(const Key& key) { return key.view(); }
    bool operator()(const auto& a, const auto& b) const {
      const KeyView x = view(a), y = view(b);
      const auto order = x.family <=> y.family;
      return order < 0 || (order == 0 && x.labels < y.labels);
    }
  };
  struct Entry {
    Value base;               // what earlier sources counted
    Value last;               // what this one says
    std::uint64_t seen = 0;   // in which round
  };
  void carry(Entry& entry, Sample& sample);
  void make_room(std::size_t newcomers);

  std::map<Key, Entry, Less> entries_;
  std::uint64_t round_ = 0;
  std::uint64_t forgotten_ = 0;
  std::size_t refused_ = 0;  // in the last round
  bool changed_ = false;
  SharedCarriedTotals totals_;  // while nothing changes
};

}  // namespace qpscope
