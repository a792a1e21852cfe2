// SPDX-License-Identifier: Apache-2.0
#include "core/command_budget.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace qpscope {
namespace {

// The last tenth stays free: what was saved up before, or overdrawn by one question, must not show as more than the budget in
// any stretch of some seconds.
constexpr double kUsed = 0.9;
struct Account {
  double share;          // of the budget
  double saved_seconds;  // of the whole budget; a dump wants it by the second
};
using Accounts = std::array<Account, 3>;  // by Use
constexpr Accounts kWithoutSets{{{0.75, 1}, {0.25, 1}, {0, 0}}}, kWithSets{{{0.6, 0.5}, {0.2, 1}, {0.2, 0.5}}};
constexpr const Accounts& accounts(bool sets) { return sets ? kWithSets : kWithoutSets; }

}  // namespace

CommandBudget::CommandBudget(double per_second, bool firmware) : per_second_(firmware ? per_second * kUsed : 0), firmware_(firmware) {}

void CommandBudget::fill(BootTime now) {
  const double passed = filled_.value ? std::max(0.0, seconds(now, filled_)) : 0;
  filled_ = std::max(filled_, now);
  double over = 0;
  const auto most = [&](std::size_t i) { return per_second_ * accounts(sets_)[i].saved_seconds; };
  for (std::size_t i = 0; i < kUses; ++i) {
    accounts_[i] += passed * per_second_ * accounts(sets_)[i].share;
    over += std::max(0.0, accounts_[i] - most(i));
    accounts_[i] = std::min(accounts_[i], most(i));
  }
  for (std::size_t i = 0; i < kUses; ++i) {
    const double room = std::min(over, most(i) - accounts_[i]);
    accounts_[i] += room;
    over -= room;
  }
}

double CommandBudget::seconds_to_wait(Use use, BootTime now) {
  if (per_second_ <= 0) return 0;
  const std::lock_guard lock(mutex_);
  sets_ |= use == Use::sets;
  fill(now);
  return std::max(0.0, -accounts_[static_cast<std::size_t>(use)] / (per_second_ * accounts(sets_)[static_cast<std::size_t>(use)].share));
}

std::size_t CommandBudget::room(Use use, BootTime now) {
  if (per_second_ <= 0) return std::numeric_limits<std::size_t>::max();
  const std::lock_guard lock(mutex_);
  sets_ |= use == Use::sets;
  fill(now);
  return static_cast<std::size_t>(std::max(0.0, accounts_[static_cast<std::size_t>(use)]));
}

void CommandBudget::spend(Use use, std::uint64_t commands, BootTime now) {
  if (!firmware_) return;
  const std::lock_guard lock(mutex_);
  spent_ += commands;
  if (per_second_ <= 0) return;
  sets_ |= use == Use::sets;
  fill(now);
  accounts_[static_cast<std::size_t>(use)] -= static_cast<double>(commands);
}

double CommandBudget::assured(Use use) const {
  const std::lock_guard lock(mutex_);
  return per_second_ > 0 ? per_second_ * accounts(sets_)[static_cast<std::size_t>(use)].share : std::numeric_limits<double>::infinity();
}

std::uint64_t CommandBudget::spent() const {
  const std::lock_guard lock(mutex_);
  return spent_;
}

std::uint64_t CommandBudget::throttled() const {
  const std::lock_guard lock(mutex_);
  return throttled_;
}

void CommandBudget::put_off() {
  const std::lock_guard lock(mutex_);
  ++throttled_;
}

std::vector<double> fair_parts(std::span<const double> wanted, double assured) {
  std::vector<std::size_t> cheapest_first(wanted.size());
  std::iota(cheapest_first.begin(), cheapest_first.end(), 0);
  std::ranges::sort(cheapest_first, {}, [&](std::size_t i) { return wanted[i]; });
  std::vector<double> parts(wanted.size());
  double left = assured;
  for (std::size_t done = 0; done < cheapest_first.size(); ++done) {
    const std::size_t i = cheapest_first[done];
    parts[i] = std::min(wanted[i], left / static_cast<double>(cheapest_first.size() - done));
    left -= parts[i];
  }
  return parts;
}

}  // namespace qpscope
