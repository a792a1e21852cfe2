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

void CounterTotal::accept(std::uint64_t raw, std::uint64_t step) {
  state_.total += step;
  state_.last = raw;
  fallen_.reset();
  risen_.reset();
}

CounterTotal::Step CounterTotal::sample(std::uint64_t raw, CounterKind kind, double most, bool settles) {
  if (!known_) {
    known_ = true;
    state_ = {.total = raw, .last = raw};
    return Step::first;
  }
  if (kind == kWraps32 && most >= static_cast<double>(kHalf32) && raw != state_.last) {
    accept(raw, raw > state_.last ? raw - state_.last : 0);
    return Step::gap;
  }
  const auto step = rise(state_.last, raw, kind, most);
  if (!step) {
    risen_.reset();
    if (!fallen_ && kind == kWraps32 && raw >= state_.last - state_.last / 2) return Step::surplus;
    if (!fallen_) {
      fallen_ = raw;
      return Step::waiting;
    }
    // Lower for the second time: it did start again. What it counted since the first low sample is new.
    accept(raw, rise(*fallen_, raw, kind, most).value_or(0));
    return Step::reset;
  }
  if (!settles || *step == 0 || raw < state_.last) {
    accept(raw, *step);
    return Step::added;
  }
  const std::optional<std::uint64_t> before = risen_;
  if (before) {
    const auto on = rise(*before, raw, kind, most);
    const std::uint64_t sure = on ? *before : raw;
    accept(sure, rise(state_.last, sure, kind, most).value_or(0));
    if (raw < sure) accept(raw, *on);  // it wrapped on the way
  }
  fallen_.reset();
  risen_ = raw;
  return before ? Step::added : Step::waiting;
}

}  // namespace qpscope
