// SPDX-License-Identifier: Apache-2.0
#include "collectors/sole_owner.h"

#include <utility>

#include "collectors/counter_folder.h"
#include "collectors/set_counters.h"
#include "collectors/vocabulary/vocabulary.h"

namespace qpscope {
namespace {

constexpr double kPatienceSeconds = 10;  // for owners that are not known yet

}  // namespace

void SoleOwner::follow(Reading& out, std::string_view driver, const std::string& port, BootTime began, bool lags) {
  if (!host_.ownership) return;
  const SetBook& book = out.ledger.sets();
  const PortNum number = port_number(port);
  Port& state = ports_[port];
  // What comes until a pass without sets was counted in those of the pass before; while it lags, that is a pass or two later.
  const bool has_sets = lags || book.managed(number) || !book.sets(number).empty();
  const bool sets = std::exchange(state.sets, has_sets) || has_sets;
  const BootTime before = std::exchange(state.before, began);
  Passed now{.began = lags && before.value ? before : began, .ended = out.now(), .totals = {}};
  out.ledger.each(port, [&](const CounterKeyView& key, std::uint64_t total) {
    PortCounter counter{std::string(key.source), std::string(key.name)};
    if (key.source != source_ || !counter_meaning(driver, counter)) return;
    if (sets && counted_in_sets(driver, book, number, counter)) return out.ledger.tenants().mark(port, counter, {total, now.began});
    // One that could not be read now has its next step from before this reading.
    const auto last = out.ledger.last(key);
    if (last && last->at >= now.began) now.totals.emplace(std::move(counter), total);
  });
  if (state.candidate.began.value) {
    auto verdict = host_.ownership->sole_owner(device_, number, state.decided.value ? state.decided : state.candidate.began, state.candidate.ended);
    if (verdict.is == PortVerdict::Is::pending) {
      if (seconds(now.ended, state.candidate.ended) < kPatienceSeconds) return;
      verdict = {};
    }
    decide(out, port, state, verdict);
  }
  state.candidate = std::move(now);
}

void SoleOwner::decide(Reading& out, const std::string& port, Port& state, const Ownership::Verdict& verdict) const {
  TenantLedger& ledger = out.ledger.tenants();
  const Passed& read = state.candidate;
  for (const auto& [counter, total] : read.totals) {
    const auto from = ledger.mark(port, counter);
    if (verdict.is == PortVerdict::Is::sole && from && from->at == state.decided && total >= from->total) {
      ledger.credit(port, {verdict.tenant, verdict.workload}, CreditMethod::sole_owner, counter, total - from->total, read.ended);
    }
    ledger.mark(port, counter, {total, read.began});
  }
  state.decided = read.began;
}

}  // namespace qpscope
