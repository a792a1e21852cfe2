// SPDX-License-Identifier: Apache-2.0
// The rates of each port over the last five minutes, for people who look at a page: made of the totals in the snapshots. Thread-safe.
//
// Time is cut into steps. What grew between two readings of a total is spread over the steps between them, which is all that is known; where there
// was no reading for long there is nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/sample_places.h"

namespace qpscope {

class PortHistory {
 public:
  static constexpr double kStepSeconds = 2;
  static constexpr std::size_t kSteps = 150;
  static constexpr std::size_t kMostPorts = 2048;

  PortHistory();

  // Takes what is new in a snapshot; nothing unless a step is over. All samples of a port that make one family are in one list, as one collector
  // reads them, and never fall (core/counter_ledger.h).
  void take(std::span<const SharedSamples> lists, BootTime at);

  struct Rates {
    std::string_view family;   // "rx_bytes"
    std::vector<float> rates;  // per second, the oldest first; NaN: not sampled
  };
  // Those that the port has; all equally long, of whatever port.
  std::vector<Rates> of(std::string_view device, std::string_view port) const;
  // Samples that were not taken in the last step, since there are more than kMostPorts.
  std::size_t left_out() const;

 private:
  // The newest step is ring[step % kSteps].
  struct Series {
    std::uint64_t step = 0;   // when it was read last; 0: never
    double total = 0;         // then
    std::uint32_t parts = 0;  // of how many samples it was the sum
    std::uint32_t parts_now = 0;  // while a snapshot is taken, as `sum`
    double sum = 0;
    std::vector<float> ring;  // empty until it is read
  };
  static constexpr std::size_t kFamilies = 6;
  struct Port {
    std::uint64_t step = 0;  // when it was there last
    std::array<Series, kFamilies> series;
  };
  using Key = std::pair<std::string, std::string>;
  using KeyView = std::pair<std::string_view, std::string_view>;
  struct Less {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const { return KeyView(a) < KeyView(b); }
  };

  using Ports = std::map<Key, Port, Less>;
  Port* find(const Sample& one, Ports::iterator& last);
  void close(Series& series) const;
  void drop_old();

  mutable std::mutex mutex_;  // guards what follows
  SamplePlaces places_;
  Ports ports_;
  std::vector<Series*> touched_;  // while a snapshot is taken
  std::size_t left_out_ = 0;
  std::uint64_t step_ = 0, first_ = 0;
};

}  // namespace qpscope
