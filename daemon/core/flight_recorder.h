// SPDX-License-Identifier: Apache-2.0
// The last 15 minutes of every port, device and tenant, second by second: what a counter grew by, how many queue pairs there were. Bounded in memory: a series
// that does not move costs a few bytes and gets its row of seconds with its first movement. Where there is no more room, what comes new is left out and
// counted. Not thread-safe: the main thread's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ids.h"
#include "core/metric.h"
#include "core/sample_places.h"

namespace qpscope {

class FlightRecorder {
 public:
  static constexpr std::size_t kSeconds = 900;
  static constexpr std::size_t kMostKnown = 16384;  // series
  static constexpr std::size_t kMostRows = 2048;    // of those, with a row: 3.6 KB each

  enum class Kind : std::uint8_t {
    counter,  // of the kernel's: what it was before we read it is not known
    own,      // a counter of ours, which began at 0
    count,    // a number that is 0 where there is no sample
    state,
  };

  FlightRecorder();

  // Takes what is new in a snapshot; nothing unless a second is over.
  void take(std::span<const SharedSamples> lists, BootTime at);

  // Second n of every series of a window is the one that ended at `began` + n + 1.
  struct Series {
    const MetricDef* def = nullptr;
    Labels labels;
    std::vector<float> values;  // per second of a counter, else the value; NaN: it was not read
  };
  struct Window {
    BootTime began, ended;
    std::vector<Series> series;     // those that moved, in any order
    std::uint64_t left_out = 0;     // samples that found no room in the last second
  };
  // The last `seconds` that were taken, at most kSeconds and as many as there are.
  Window window(std::size_t seconds = kSeconds) const;
  // What counters grew by in the last `seconds`: of those that `wanted(def, labels)` picks, summed.
  template <class Wanted>
  double grown(std::size_t seconds, Wanted&& wanted) const;

  std::size_t rows() const { return rows_.size() - free_.size(); }
  std::size_t known() const { return series_.size(); }
  std::uint64_t left_out() const { return left_out_; }
  std::size_t seconds_held() const;

 private:
  using Row = std::vector<float>;  // second s is at s % kSeconds
  struct Known {
    Kind kind = Kind::counter;
    double value = 0;          // when it was read last
    std::uint64_t since = 0;   // from which second on it was read without a gap
    std::uint64_t at = 0;      // the second in which it was read last
    std::uint64_t moved = 0;   // the last second that was not 0; 0: none
    std::uint32_t row = kNoRow;
  };
  struct Key {
    const MetricDef* def;
    Labels labels;
  };
  struct KeyView {
    const MetricDef* def;
    const Labels* labels;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Key& key) const noexcept { return of(key.def, key.labels); }
    std::size_t operator()(const KeyView& key) const noexcept { return of(key.def, *key.labels); }
    static std::size_t of(const MetricDef* def, const Labels& labels) noexcept {
      return std::hash<std::string_view>{}(labels.joined()) ^ (std::hash<const void*>{}(def) * 0x9e3779b97f4a7c15ULL);
    }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const { return a.def == b.def && labels_of(a) == labels_of(b); }
    static const Labels& labels_of(const Key& key) { return key.labels; }
    static const Labels& labels_of(const KeyView& key) { return *key.labels; }
  };
  static constexpr std::uint32_t kNoRow = 0xffffffff;

  void take_one(Kind kind, const Sample& one);
  bool give_row(Known& known);
  void tidy();
  bool gone(const Known& known) const { return now_ - known.at >= kSeconds; }
  float value_at(const Known& known, std::uint64_t second) const;

  SamplePlaces places_;
  std::unordered_map<Key, Known, Hash, Equal> series_;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> free_;  // of rows_
  std::uint64_t now_ = 0, before_ = 0, first_ = 0;  // seconds: the last that was taken, that before it, the first; 0: none
  std::uint64_t left_out_ = 0;
};

template <class Wanted>
double FlightRecorder::grown(std::size_t seconds, Wanted&& wanted) const {
  double sum = 0;
  for (const auto& [key, known] : series_) {
    if (known.row == kNoRow || !wanted(*key.def, key.labels)) continue;
    for (std::size_t i = 0; i < seconds && i < kSeconds && i < now_; ++i) {
      const float value = value_at(known, now_ - i);
      if (value > 0) sum += value;  // false for NaN
    }
  }
  return sum;
}

}  // namespace qpscope
