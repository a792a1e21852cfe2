// SPDX-License-Identifier: Apache-2.0
// The totals of one device's counters: what is exported instead of what the kernel shows. counter_total.h has the rules for one.
// Beside them what we observed on the device ourselves: totals and histograms that nobody else keeps, and whose the events are.
//
// Not thread-safe: the device's own thread counts. An image is a value that may go anywhere.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/counter_total.h"
#include "core/histogram.h"
#include "core/ids.h"
#include "core/set_book.h"
#include "core/tenant_ledger.h"

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

// Of something that we observe ourselves; the name is ours, or holds the driver's words.
struct ObservedKey {
  std::string port, name;
  friend auto operator<=>(const ObservedKey&, const ObservedKey&) = default;
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
    std::shared_ptr<const CounterKey> key;  // the ledger's own: an image is made each second
    CounterState state;
    BootTime at;  // of `state.last`
    friend bool operator==(const Counter& a, const Counter& b) { return *a.key == *b.key && a.state == b.state && a.at == b.at; }
  };
  std::vector<Counter> counters;
  std::map<std::string, CounterFaults> ports;
  std::map<ObservedKey, std::uint64_t> observed;
  std::map<ObservedKey, Histogram> histograms;
  TenantImage tenants;
  SetImage sets;
  friend bool operator==(const LedgerImage&, const LedgerImage&) = default;
};

class CounterLedger {
 public:
  static constexpr std::size_t kMost = 8192;          // counters of a device; hfi1 has about 1,000
  static constexpr std::size_t kMostObserved = 4096;  // totals that we observe ourselves, and as many histograms

  CounterLedger() = default;
  explicit CounterLedger(const LedgerImage& image);

  struct Counted {
    double total;
    // Events per second between the last two samples. nullopt unless both are good, of this run, and nothing is in doubt between them:
    // no reset, no gap, no counter at its maximum.
    std::optional<double> rate;
  };
  // After a sample `raw` taken at `now`; `settles` as in CounterTotal::sample. nullopt: there is no room for another.
  std::optional<Counted> count(const CounterKeyView& key, std::uint64_t raw, CounterKind kind, BootTime now, bool settles = false);

  // The total and the time of the last sample that moved it on, where there is such a counter.
  struct Last {
    double total;
    BootTime at;
  };
  std::optional<Last> last(const CounterKeyView& key) const;
  // Every counter of a port, "" for the device's own, with its total.
  void each(std::string_view port, const std::function<void(const CounterKeyView& key, std::uint64_t total)>& see) const;

  // Adds `events` to a total of our own, which starts at 0; the total. nullopt: there is no room for another.
  std::optional<std::uint64_t> add(const ObservedKey& key, std::uint64_t events);
  std::optional<std::uint64_t> observed(const ObservedKey& key) const;  // nullopt: nothing was added yet

  // Adds `value` to a histogram of our own, which begins anew where its bounds were others. False: there is no room for another.
  bool observe(const ObservedKey& key, std::span<const double> bounds, double value);
  const Histogram* histogram(const ObservedKey& key) const;  // null: nothing was observed yet

  // Whose the events are.
  TenantLedger& tenants() { return tenants_; }
  const TenantLedger& tenants() const { return tenants_; }
  // The counter sets that tell it.
  SetBook& sets() { return sets_; }
  const SetBook& sets() const { return sets_; }

  // What the port can carry, in bytes per second. It bounds how far a counter can have come; without it the fastest NIC is assumed.
  void line_rate(const std::string& port, std::optional<double> bytes_per_second);
  std::optional<double> line_rate(std::string_view port) const;

  // Whether a total or a histogram moved since this was asked last: then there is something to save.
  bool take_changed();
  LedgerImage image() const;

 private:
  struct Less {
    using is_transparent = void;
    static CounterKeyView view(const CounterKeyView& key) { return key; }
    static CounterKeyView view(const std::shared_ptr<const CounterKey>& key) { return key->view(); }
    bool operator()(const auto& a, const auto& b) const { return view(a) < view(b); }
  };
  struct Entry {
    CounterTotal total;
    BootTime at;
    bool good = false;  // the last sample is of this run, and its total is what the kernel showed
  };
  double most_events(std::string_view port, BootTime from, BootTime to) const;

  std::map<std::shared_ptr<const CounterKey>, Entry, Less> entries_;
  std::map<std::string, CounterFaults, std::less<>> faults_;       // by port
  std::map<std::string, double, std::less<>> line_rates_;         // by port, where it is known; bytes per second
  std::map<ObservedKey, std::uint64_t> observed_;
  std::map<ObservedKey, Histogram> histograms_;
  TenantLedger tenants_;
  SetBook sets_;
  bool changed_ = false;
};

}  // namespace qpscope
