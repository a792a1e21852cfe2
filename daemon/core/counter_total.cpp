// SPDX-License-Identifier: Apache-2.0
#include "core/counter_total.h"

namespace qpscope {
namespace {

constexpr std::uint64_t kRange32 = std::uint64_t{1} << 32;
constexpr std::uint64_t kHalf32 = kRange32 / 2;

}  // namespace

std::optional<std::uint64_t> CounterTotal::rise(std::uint64_t from, std::uint64_t to, CounterKind kind, double most) {
  if (to >= from) return to - from;
  if (kind.overflow == CounterKind::Overflow::saturates) return std::nullopt;
  std::uint64_t step = to - from;  // modulo 2^64
  if (kind.bits == 32) {
    // One summand wrapped: what is shown fell by 2^32 less the step, which is read as signed.
    step %= kRange32;
    if (from - to > kRange32 || step >= kHalf32) return std::nullopt;
  }
  if (static_cast<double>(step) > most) return std::nullopt;
  return step;
}

std::optional<std::uint64_t> CounterTotal::rise_over_gap(std::uint64_t from, std::uint64_t to, std::uint64_t expected) {
  const auto shown = static_cast<__int128>(to) - static_cast<__int128>(from), range = static_cast<__int128>(kRange32);
  const __int128 missing = static_cast<__int128>(expected) - shown;
  const __int128 wraps = missing > 0 ? (missing + range / 2) / range : 0;
  const __int128 step = shown + wraps * range;
  return step >= 0 ? std::optional(static_cast<std::uint64_t>(step)) : std::nullopt;
}

void CounterTotal::accept(std::uint64_t raw, std::uint64_t step, std::optional<std::uint64_t> counted) {
  state_.total += step;
  state_.last = raw;
  counted_last_ = counted;
  fallen_.reset();
  risen_.reset();
}

CounterTotal::Step CounterTotal::sample(std::uint64_t raw, CounterKind kind, double most, bool settles, std::optional<std::uint64_t> counted) {
  if (!known_) {
    known_ = true;
    state_ = {.total = raw, .last = raw};
    counted_last_ = counted;
    return Step::first;
  }
  const bool gap = kind == kWraps32 && most >= static_cast<double>(kHalf32);
  if (gap && raw != state_.last && !(counted && counted_last_)) {
    accept(raw, raw > state_.last ? raw - state_.last : 0, counted);
    return Step::gap;
  }
  const auto step_between = [&](std::uint64_t from, std::uint64_t to, std::optional<std::uint64_t> counted_from, std::optional<std::uint64_t> counted_to) {
    return gap && counted_from && counted_to ? rise_over_gap(from, to, *counted_to - *counted_from) : rise(from, to, kind, most);
  };
  const auto step = step_between(state_.last, raw, counted_last_, counted);
  if (!step) {
    risen_.reset();
    if (!fallen_ && kind == kWraps32 && raw >= state_.last - state_.last / 2) return Step::surplus;
    if (!fallen_) {
      fallen_ = raw;
      return Step::waiting;
    }
    // Lower for the second time: it did start again. What it counted since the first low sample is new.
    accept(raw, rise(*fallen_, raw, kind, most).value_or(0), counted);
    return Step::reset;
  }
  if (!settles || *step == 0 || raw < state_.last) {
    accept(raw, *step, counted);
    return Step::added;
  }
  const std::optional<std::uint64_t> before = risen_, counted_before = counted_risen_;
  if (before) {
    const auto on = step_between(*before, raw, counted_before, counted);
    const std::uint64_t sure = on ? *before : raw;
    const auto counted_sure = on ? counted_before : counted;
    accept(sure, step_between(state_.last, sure, counted_last_, counted_sure).value_or(0), counted_sure);
    if (raw < sure) accept(raw, *on, counted);  // it wrapped on the way
  }
  fallen_.reset();
  risen_ = raw;
  counted_risen_ = counted;
  return before ? Step::added : Step::waiting;
}

}  // namespace qpscope
