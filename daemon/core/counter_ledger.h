// SPDX-License-Identifier: Apache-2.0
// The totals of one device's counters: what is exported instead of what the kernel shows. counter_total.h has the rules for one.
//
// Not thread-safe: the device's own thread counts. An image is a value that may go anywhere.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/counter_total.h"
#include "core/ids.h"

namespace qpscope {

// Raw names, never sanitised: two that differ in any byte are two counters.
struct CounterKeyView {
  std::string_view port;    // "" for the device's own
  std::string_view source;  // folder: "counters", "hw_counters"
  std::string_view name;    // file
  friend auto operator<=>(const CounterKeyView&, const CounterKeyView&) = default;
};
struct CounterKey {
  std::string port, source, name;
  CounterKeyView view() const { return {port, source, name}; }
  friend bool operator==(const CounterKey&, const CounterKey&) = default;
};

// How often totals had to do without the kernel's word. Counters, of events on counters.
struct CounterFaults {
  std::uint64_t resets = 0;  // a counter started again: what came between the last sample and the reset is lost
  std::uint64_t gaps = 0;    // unseen for so long that a wrap may have been missed
  friend bool operator==(const CounterFaults&, const CounterFaults&) = default;
};

// What outlives the daemon (state_image.h).
struct LedgerImage {
  struct Counter {
    CounterKey key;
    CounterState state;
    BootTime at;  // of `state.last`
    friend bool operator==(const Counter&, const Counter&) = default;
  };
  std::vector<Counter> counters;
  std::map<std::string, CounterFaults> ports;
  friend bool operator==(const LedgerImage&, const LedgerImage&) = default;
};

class CounterLedger {
 public:
  static constexpr std::size_t kMost = 8192;  // counters of a device; hfi1 has about 1,000

  CounterLedger() = default;
  explicit CounterLedger(const LedgerImage& image);

  // The total after a sample `raw` taken at `now`; `settles` as in CounterTotal::sample. nullopt: there is no room for another.
  std::optional<double> count(const CounterKeyView& key, std::uint64_t raw, CounterKind kind, BootTime now, bool settles = false);

  // What the port can carry bounds how far a counter can have come. Bytes per second; without it the fastest NIC is assumed.
  void line_rate(const std::string& port, double bytes_per_second);

  // Whether a total moved since this was asked last: then there is something to save.
  bool take_changed();
  LedgerImage image() const;

 private:
  struct Less {
    using is_transparent = void;
    static CounterKeyView view(const CounterKeyView& key) { return key; }
    static CounterKeyView view(const CounterKey& key) { return key.view(); }
    bool operator()(const auto& a, const auto& b) const { return view(a) < view(b); }
  };
  struct Entry {
    CounterTotal total;
    BootTime at;
  };
  double most_events(std::string_view port, BootTime from, BootTime to) const;

  std::map<CounterKey, Entry, Less> entries_;
  std::map<std::string, CounterFaults, std::less<>> faults_;       // by port
  std::map<std::string, double, std::less<>> events_per_second_;  // by port, where the line rate is known
  bool changed_ = false;
};

}  // namespace qpscope
