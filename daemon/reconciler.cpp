// SPDX-License-Identifier: Apache-2.0
#include "reconciler.h"

#include <algorithm>
#include <iterator>

namespace qpscope {
namespace {

constexpr std::size_t kConfirmsPerTick = 40;  // of each kind and device, if the budget has room for so many
constexpr unsigned kMostSeeds = 3;
constexpr std::size_t kSuspectsPerTick = 1000;  // where no budget limits them
constexpr std::size_t kUnverifiedProbe = 8;  // newest QPs asked about on each tick until owners are verified

// Up to `most` of the list, taken out of it.
template <class T>
std::vector<T> take(std::vector<T>& list, std::size_t most) {
  const auto end = list.begin() + static_cast<std::ptrdiff_t>(std::min(list.size(), most));
  std::vector<T> out(std::make_move_iterator(list.begin()), std::make_move_iterator(end));
  list.erase(list.begin(), end);
  return out;
}

}  // namespace

Reconciler::Reconciler(Device device, QpSource& source, QpTable& table, std::mutex& table_mutex, SelfCheck& self_check, ReconcileOptions options, Hooks hooks)
    : device_(std::move(device)), source_(source), table_(table), table_mutex_(table_mutex), self_check_(self_check), options_(options), hooks_(std::move(hooks)) {}

Result<> Reconciler::tick() {
  if (reseed_) start_anew();
  note_losses();
  ask_suspects();
  if (dumping_) return go_on_dumping();
  if (!seeded_) return begin_dump(QpTable::Why::seed);
  confirm();
  sweep();
  const auto differ = counts_differ();
  if (!differ) return std::unexpected(differ.error());
  if (!mismatch_) seeds_ = kMostSeeds;
  const bool seeding = seeds_ < kMostSeeds, blind = !hooks_.events_on();
  const double interval = blind || seeding ? options_.blind_interval_seconds : options_.interval_seconds;
  if (seconds(hooks_.now(), last_dump_) < interval) return {};
  // Without events equal counts prove nothing, so the dump is simply periodic then.
  if (blind) return begin_dump(QpTable::Why::found);
  if (!*differ) return {};
  if (seeding) seeds_++;
  return begin_dump(seeding ? QpTable::Why::seed : QpTable::Why::drift);
}

void Reconciler::start_anew() {
  end_dump(false);
  seeded_ = false;
  seeds_ = 0;
  reseed_ = false;
}

// After a loss the table may hold an older QP than netlink under one number: that is no fault of what BPF reads.
void Reconciler::note_losses() {
  const std::uint64_t lost = hooks_.events_lost();
  if (lost == losses_noted_) return;
  losses_noted_ = lost;
  const BootTime now = hooks_.now();
  const std::lock_guard lock(table_mutex_);
  self_check_.trust_from(now);
}

void Reconciler::close() { end_dump(false); }

void Reconciler::leave() {
  const std::lock_guard lock(table_mutex_);
  gone_ = true;
  table_.drop_device(device_.index);
}

std::size_t Reconciler::room() const { return device_.budget->room(CommandBudget::Use::queue_pairs, hooks_.now()); }

void Reconciler::spend(std::size_t commands) const { device_.budget->spend(CommandBudget::Use::queue_pairs, commands, hooks_.now()); }

Result<bool> Reconciler::counts_differ() {
  const auto count = source_.count(device_.index);
  if (!count) return std::unexpected(count.error());
  hooks_.drain();
  const std::lock_guard lock(table_mutex_);
  if (*count == table_.tracked(device_.index)) {
    mismatch_ = false;
    return false;
  }
  // Under churn the two are never read at the same moment: only a difference that outlives a tick without any event counts.
  const bool still = mismatch_ && events_at_mismatch_ == table_.events(device_.index);
  mismatch_ = true;
  events_at_mismatch_ = table_.events(device_.index);
  return still;
}

Result<> Reconciler::begin_dump(QpTable::Why why) {
  const BootTime began = hooks_.now();
  if (!device_.budget->may_ask(CommandBudget::Use::queue_pairs, began)) {
    device_.budget->put_off();
    return {};
  }
  last_dump_ = began;  // one that fails counts too: a broken device is not asked again and again
  auto dumping = source_.dump(device_.index);
  if (!dumping) return std::unexpected(std::move(dumping.error()));
  {
    const std::lock_guard lock(table_mutex_);
    table_.dump_begins(device_.index);
  }
  dumping_ = std::move(*dumping);
  dumped_ = {.device = device_.index, .began = began, .complete = true, .rows = {}};
  why_ = why;
  return go_on_dumping();
}

Result<> Reconciler::go_on_dumping() {
  while (dumping_ && device_.budget->may_ask(CommandBudget::Use::queue_pairs, hooks_.now())) {
    auto piece = dumping_->next();
    // What happened before the piece's last row is in the ring by now; applied first, it explains the rows.
    hooks_.drain();
    if (!piece) {
      const bool nothing = dumped_.rows.empty();
      end_dump(false);
      // What came before it broke off is worth having, and a seed without anything is tried again.
      if (!nothing) seeded_ = true;
      return nothing ? Result<>(std::unexpected(std::move(piece.error()))) : Result<>();
    }
    spend(piece->rows.size());
    dumped_.complete &= !piece->flawed;
    take_rows(std::move(piece->rows));
    if (piece->last) {
      end_dump(true);
      seeded_ = true;
    }
  }
  if (dumping_) device_.budget->put_off();
  return {};
}

void Reconciler::take_rows(std::vector<QpRow> rows) {
  QpDump part{.device = device_.index, .began = dumped_.began, .complete = true, .rows = std::move(rows)};
  std::vector<QpRow> unknown;
  {
    const std::lock_guard lock(table_mutex_);
    unknown = table_.dump_goes_on(part);
  }
  std::ranges::move(part.rows, std::back_inserter(dumped_.rows));
  for (QpRow& row : unknown) {
    if (why_ == QpTable::Why::drift) {
      unknown_.push_back(std::move(row));  // believed once a later get confirms it
    } else {
      add(row, why_);
    }
  }
}

void Reconciler::end_dump(bool complete) {
  if (!dumping_) return;
  dumping_.reset();
  dumped_.complete &= complete;
  std::vector<QpRecord> unseen;
  {
    const std::lock_guard lock(table_mutex_);
    unseen = table_.dump_ends(dumped_);
  }
  dumped_ = {};
  std::ranges::move(unseen, std::back_inserter(unseen_));
}

void Reconciler::add(const QpRow& row, QpTable::Why why) {
  auto [owner, tenant] = hooks_.attribute(row);
  const BootTime now = hooks_.now();
  const std::lock_guard lock(table_mutex_);
  if (!gone_) table_.add(device_.index, row, std::move(owner), tenant, now, why);
}

// A tick after the dump or later: whatever was on its way then has arrived or ended by now.
void Reconciler::confirm() {
  for (const QpRow& row : take(unknown_, std::min(kConfirmsPerTick, room()))) {
    // The kernel refuses a get without a port, and one for a port that is not the QP's: a QP without a port is believed as it was.
    Result<QpRow> again = row.port.value ? source_.get(device_.index, row.port, row.type, row.qpn) : Result<QpRow>(row);
    spend(row.port.value ? 1 : 0);
    hooks_.drain();
    if (again) add(*again, QpTable::Why::drift);  // does nothing where an event told of it meanwhile
  }
  for (const QpRecord& record : take(unseen_, std::min(kConfirmsPerTick, room()))) {
    const auto answer = get(record);
    if (answer || answer.error().code != ErrorCode::not_found) continue;
    hooks_.drain();
    const std::lock_guard lock(table_mutex_);
    table_.remove_vanished(record.key, hooks_.events_on() ? QpTable::Why::drift : QpTable::Why::found);
  }
}

Result<QpRow> Reconciler::get(const QpRecord& record) {
  // On 5.10 GSI QPs have no port all their life, and netlink knows them by a number that needs one: nobody can ask for them.
  if (is_special(record.type) && record.port.value == 0) return fail(ErrorCode::unsupported, "a GSI or SMI QP without a port cannot be asked for");
  spend(1);
  // The kernel refuses a get without a port; for a QP that has none it answers EAGAIN on any port, or ENOENT if it is gone.
  const PortNum port = record.port.value ? record.port : PortNum{1};
  return source_.get(device_.index, port, record.type, record.qpn);
}

void Reconciler::ask_suspects() {
  if (options_.polls_per_tick == 0) return;
  // A part stays, half for a dump, else an eighth for the sweep: errors that never end must not stop either.
  const std::size_t all = room(), kept = dumping_ || !seeded_ ? all / 2 : all / 8;
  std::size_t left = std::min(all - kept, kSuspectsPerTick);
  while (true) {
    if (suspicions_.empty()) suspicions_ = hooks_.suspicions(device_.name);
    if (suspicions_.empty()) return;
    if (left == 0) return device_.budget->put_off();
    std::vector<QpRecord> batch;
    {
      const std::lock_guard lock(table_mutex_);
      batch = table_.suspects(device_.index, suspicions_, left);
    }
    if (batch.empty()) suspicions_.clear();  // answered
    ask(batch);
    left -= batch.size();
  }
}

void Reconciler::sweep() {
  std::vector<QpRecord> batch;
  const std::size_t affordable = room(), polls = std::min<std::size_t>(options_.polls_per_tick, affordable);
  if (polls < options_.polls_per_tick) device_.budget->put_off();
  {
    const std::lock_guard lock(table_mutex_);
    batch = table_.next_tracked(device_.index, sweep_from_, polls);
    if (!batch.empty()) sweep_from_ = batch.back().key;
    if (!self_check_.owners_verified())
      std::ranges::move(table_.newest_from_bpf(device_.index, std::min(kUnverifiedProbe, affordable - polls)), std::back_inserter(batch));
  }
  ask(batch);
}

void Reconciler::ask(const std::vector<QpRecord>& batch) {
  for (const QpRecord& record : batch) {
    const BootTime asked = hooks_.now();
    const auto answer = get(record);
    hooks_.drain();
    std::optional<QpRecord> dead;
    {
      const std::lock_guard lock(table_mutex_);
      table_.note_asked(record.key, asked);
      const QpRecord* present = table_.find(record.key);
      if (!present) continue;  // destroyed meanwhile
      const bool settled = seconds(asked, record.changed) > 1;  // else its destroy may be on its way
      if (answer || settled) self_check_.compare(*present, answer);
      if (answer) {
        QpRecord before = *present;
        table_.refresh(record.key, *answer, asked);
        if (before.state && before.state != QpState::err && present->state == QpState::err) dead = std::move(before);
      } else if (answer.error().code == ErrorCode::not_found && settled) {
        unseen_.push_back(record);
      }
    }
    if (dead) found_dead(*dead, asked);
  }
}

void Reconciler::found_dead(const QpRecord& before, BootTime asked) {
  std::optional<BootTime> suspected;
  for (const Suspicion& one : suspicions_) {
    if (one.whom.covers(before) && one.at < asked) suspected = std::max(suspected.value_or(BootTime{}), one.at);
  }
  if (hooks_.events_on() || suspected) hooks_.found_dead(device_.name, before, asked, suspected);
}

}  // namespace qpscope
