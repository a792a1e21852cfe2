// SPDX-License-Identifier: Apache-2.0
// From what the kernel shows of a counter to a total that only grows: ours, accumulated from differences.
//
// Kernel counters wrap (mlx5 Q counters at 2^32, and what is shown is a *sum* of such counters: the port's default set, live
// sets, history), saturate (IB PortCounters of 4 to 32 bits) or start again (driver reload, reset by hand). A total starts at
// the kernel's value; a wrap adds, a reset adds nothing. Sources: kernel core/counters.c, core/sysfs.c get_counter_table,
// hw/mlx5/counters.c.
//
// A set that is released is for a moment counted twice (added to history before it is taken away, core/counters.c
// counter_release). Such a surplus is at most half of what is shown, for what the set counted stays in history. Where sets are
// known to be in use (`settles`) it is waited out; where not, a 32-bit counter that falls, but not below half, had one: its total
// stands until the kernel's value has passed it again.
//
// Pure values, not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

namespace qpscope {

inline constexpr double kFastestNic = 370e6;  // messages/s of the fastest known (ConnectX-7 data sheet: 330 to 370 million)

struct CounterKind {
  enum class Overflow : std::uint8_t {
    wraps,      // modulo 2^bits; with 32 bits possibly a sum of such counters
    saturates,  // sticks at 2^bits - 1
  };
  unsigned bits = 64;  // wraps: 32 or 64; saturates: 1 to 32
  Overflow overflow = Overflow::wraps;
  friend bool operator==(const CounterKind&, const CounterKind&) = default;
};

inline constexpr CounterKind kWide{};              // 64 bits
inline constexpr CounterKind kWraps32{.bits = 32};
constexpr CounterKind saturating(unsigned bits) { return {.bits = bits, .overflow = CounterKind::Overflow::saturates}; }

// At its maximum: there may be more events than it shows, and new ones do not show at all.
constexpr bool saturated(std::uint64_t raw, CounterKind kind) {
  return kind.overflow == CounterKind::Overflow::saturates && raw == (std::uint64_t{1} << kind.bits) - 1;
}

// What of a counter outlives a restart of the daemon.
struct CounterState {
  unsigned __int128 total = 0;  // events; a 64-bit counter may start again more than once
  std::uint64_t last = 0;       // what the kernel showed when `total` was true
  friend bool operator==(const CounterState&, const CounterState&) = default;
};

class CounterTotal {
 public:
  CounterTotal() = default;
  explicit CounterTotal(const CounterState& state) : state_(state), known_(true) {}

  enum class Step : std::uint8_t {
    first,    // the total is the kernel's value
    added,    // by the difference, which may be 0
    waiting,  // the next sample decides: a fall may be a reset, a rise may be too high
    reset,    // a fall that this sample confirms
    surplus,  // a fall that is none: what was shown before was too high, and the total stands
    gap,      // unseen for so long that a wrap cannot be told from a reset: counted on from here
  };
  // `most`: how many events were possible since the last sample. `settles`: the kernel may show a value too high for a moment: a
  // rise counts as far as the next sample still has it. A wrap counts at once: it makes a value smaller, a surplus never does.
  // `counted`: what the sets that are part of this 32-bit counter have counted so far, by readings of their own: over a gap it tells how
  // often a summand wrapped.
  Step sample(std::uint64_t raw, CounterKind kind, double most, bool settles, std::optional<std::uint64_t> counted = {});

  double value() const { return static_cast<double>(state_.total); }
  const CounterState& state() const { return state_; }

 private:
  // The step from `from` to `to`, or nullopt for a fall that is no wrap.
  static std::optional<std::uint64_t> rise(std::uint64_t from, std::uint64_t to, CounterKind kind, double most);
  // The same over a gap, nearest to what was expected.
  static std::optional<std::uint64_t> rise_over_gap(std::uint64_t from, std::uint64_t to, std::uint64_t expected);
  void accept(std::uint64_t raw, std::uint64_t step, std::optional<std::uint64_t> counted);

  CounterState state_;
  std::optional<std::uint64_t> fallen_;  // a lower value, seen once
  std::optional<std::uint64_t> risen_;   // a higher value, seen once, while `settles`
  std::optional<std::uint64_t> counted_last_, counted_risen_;  // `counted` with state_.last, and with risen_
  bool known_ = false;
};

}  // namespace qpscope
