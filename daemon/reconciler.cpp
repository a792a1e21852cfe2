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

Reconciler::Reconciler(QpSource& source, QpTable& table, std::mutex& table_mutex, SelfCheck& self_check, ReconcileOptions options, Hooks hooks)
    : source_(source), table_(table), table_mutex_(table_mutex), self_check_(self_check), options_(options), hooks_(std::move(hooks)) {}

Result<> Reconciler::tick() {
  Result<> first = refresh_devices();
  note_losses();
  for (auto& [index, device] : devices_) {
    Result<> done = visit(index, device);
    if (!done && first) first = std::move(done);
  }
  return first;
}

// After a loss the table may hold an older QP than netlink under one number: that is no fault of what BPF reads.
void Reconciler::note_losses() {
  const std::uint64_t lost = hooks_.events_lost();
  if (lost != losses_noted_) self_check_.trust_from(hooks_.now());
  losses_noted_ = lost;
}

void Reconciler::reseed() {
  for (auto& [index, device] : devices_) {
    end_dump(device, false);
    device.seeded = false;
    device.seeds = 0;
  }
}

bool Reconciler::seeded() const {
  return std::ranges::all_of(devices_, [](const auto& entry) { return entry.second.seeded; });
}

void Reconciler::close() {
  for (auto& [index, device] : devices_) end_dump(device, false);
}

std::map<DeviceIndex, std::string> Reconciler::devices() const {
  const std::lock_guard lock(devices_mutex_);
  std::map<DeviceIndex, std::string> out;
  for (const auto& [index, device] : devices_) out.emplace(index, device.name);
  return out;
}

Result<> Reconciler::refresh_devices() {
  auto listed = source_.devices();
  if (!listed) return std::unexpected(std::move(listed.error()));
  std::erase_if(*listed, [&](const auto& entry) { return !hooks_.watched(entry.second); });
  std::map<std::string, std::shared_ptr<CommandBudget>> budgets;
  for (const auto& [index, name] : *listed) budgets.emplace(name, hooks_.budget(name));
  const std::lock_guard lock(devices_mutex_);
  for (auto it = devices_.begin(); it != devices_.end();) {
    const bool present = std::ranges::any_of(*listed, [&](const auto& one) { return one.first == it->first; });
    if (!present) {
      end_dump(it->second, false);
      const std::lock_guard table_lock(table_mutex_);
      table_.drop_device(it->first);
    }
    it = present ? std::next(it) : devices_.erase(it);
  }
  for (auto& [index, name] : *listed) {  // a device can be renamed
    Device& device = devices_[index];
    device.budget = budgets.at(name);
    device.name = std::move(name);
  }
  return {};
}

std::size_t Reconciler::room(const Device& device) const { return device.budget->room(CommandBudget::Use::queue_pairs, hooks_.now()); }

void Reconciler::spend(const Device& device, std::size_t commands) const {
  device.budget->spend(CommandBudget::Use::queue_pairs, commands, hooks_.now());
}

Result<> Reconciler::visit(DeviceIndex index, Device& device) {
  ask_suspects(index, device);
  if (device.dumping) return go_on_dumping(index, device);
  if (!device.seeded) return begin_dump(index, device, QpTable::Why::seed);
  confirm(index, device);
  sweep(index, device);
  const auto differ = counts_differ(index, device);
  if (!differ) return std::unexpected(differ.error());
  if (!device.mismatch) device.seeds = kMostSeeds;
  const bool seeding = device.seeds < kMostSeeds, blind = !hooks_.events_on();
  const double interval = blind || seeding ? options_.blind_interval_seconds : options_.interval_seconds;
  if (seconds(hooks_.now(), device.last_dump) < interval) return {};
  // Without events equal counts prove nothing, so the dump is simply periodic then.
  if (blind) return begin_dump(index, device, QpTable::Why::found);
  if (!*differ) return {};
  if (seeding) device.seeds++;
  return begin_dump(index, device, seeding ? QpTable::Why::seed : QpTable::Why::drift);
}

Result<bool> Reconciler::counts_differ(DeviceIndex index, Device& device) {
  const auto count = source_.count(index);
  if (!count) return std::unexpected(count.error());
  hooks_.drain();
  const std::lock_guard lock(table_mutex_);
  if (*count == table_.tracked(index)) {
    device.mismatch = false;
    return false;
  }
  // Under churn the two are never read at the same moment: only a difference that outlives a tick without any event counts.
  const bool still = device.mismatch && device.events_at_mismatch == table_.events(index);
  device.mismatch = true;
  device.events_at_mismatch = table_.events(index);
  return still;
}

Result<> Reconciler::begin_dump(DeviceIndex index, Device& device, QpTable::Why why) {
  const BootTime began = hooks_.now();
  if (!device.budget->may_ask(CommandBudget::Use::queue_pairs, began)) {
    device.budget->put_off();
    return {};
  }
  device.last_dump = began;  // one that fails counts too: a broken device is not asked again and again
  auto dumping = source_.dump(index);
  if (!dumping) return std::unexpected(std::move(dumping.error()));
  {
    const std::lock_guard lock(table_mutex_);
    table_.dump_begins();
  }
  device.dumping = std::move(*dumping);
  device.dumped = {.device = index, .began = began, .complete = true, .rows = {}};
  device.why = why;
  return go_on_dumping(index, device);
}

Result<> Reconciler::go_on_dumping(DeviceIndex index, Device& device) {
  while (device.dumping && device.budget->may_ask(CommandBudget::Use::queue_pairs, hooks_.now())) {
    auto piece = device.dumping->next();
    // What happened before the piece's last row is in the ring by now; applied first, it explains the rows.
    hooks_.drain();
    if (!piece) {
      const bool nothing = device.dumped.rows.empty();
      end_dump(device, false);
      // What came before it broke off is worth having, and a seed without anything is tried again.
      device.seeded |= !nothing;
      return nothing ? Result<>(std::unexpected(std::move(piece.error()))) : Result<>();
    }
    spend(device, piece->rows.size());
    device.dumped.complete &= !piece->flawed;
    take_rows(index, device, std::move(piece->rows));
    if (piece->last) {
      end_dump(device, true);
      device.seeded = true;
    }
  }
  if (device.dumping) device.budget->put_off();
  return {};
}

void Reconciler::take_rows(DeviceIndex index, Device& device, std::vector<QpRow> rows) {
  QpDump part{.device = index, .began = device.dumped.began, .complete = true, .rows = std::move(rows)};
  std::vector<QpRow> unknown;
  {
    const std::lock_guard lock(table_mutex_);
    unknown = table_.dump_goes_on(part);
  }
  std::ranges::move(part.rows, std::back_inserter(device.dumped.rows));
  for (QpRow& row : unknown) {
    if (device.why == QpTable::Why::drift) {
      device.unknown.push_back(std::move(row));  // believed once a later get confirms it
    } else {
      add(index, row, device.why);
    }
  }
}

void Reconciler::end_dump(Device& device, bool complete) {
  if (!device.dumping) return;
  device.dumping.reset();
  device.dumped.complete &= complete;
  std::vector<QpRecord> unseen;
  {
    const std::lock_guard lock(table_mutex_);
    unseen = table_.dump_ends(device.dumped);
  }
  device.dumped = {};
  std::ranges::move(unseen, std::back_inserter(device.unseen));
}

void Reconciler::add(DeviceIndex index, const QpRow& row, QpTable::Why why) {
  auto [owner, tenant] = hooks_.attribute(row);
  const BootTime now = hooks_.now();
  const std::lock_guard lock(table_mutex_);
  table_.add(index, row, std::move(owner), tenant, now, why);
}

// A tick after the dump or later: whatever was on its way then has arrived or ended by now.
void Reconciler::confirm(DeviceIndex index, Device& device) {
  for (const QpRow& row : take(device.unknown, std::min(kConfirmsPerTick, room(device)))) {
    // The kernel refuses a get without a port, and one for a port that is not the QP's: a QP without a port is believed as it was.
    Result<QpRow> again = row.port.value ? source_.get(index, row.port, row.type, row.qpn) : Result<QpRow>(row);
    spend(device, row.port.value ? 1 : 0);
    hooks_.drain();
    if (again) add(index, *again, QpTable::Why::drift);  // does nothing where an event told of it meanwhile
  }
  for (const QpRecord& record : take(device.unseen, std::min(kConfirmsPerTick, room(device)))) {
    const auto answer = get(index, device, record);
    if (answer || answer.error().code != ErrorCode::not_found) continue;
    hooks_.drain();
    const std::lock_guard lock(table_mutex_);
    table_.remove_vanished(record.key, hooks_.events_on() ? QpTable::Why::drift : QpTable::Why::found);
  }
}

Result<QpRow> Reconciler::get(DeviceIndex index, const Device& device, const QpRecord& record) {
  // On 5.10 GSI QPs have no port all their life, and netlink knows them by a number that needs one: nobody can ask for them.
  if (is_special(record.type) && record.port.value == 0) return fail(ErrorCode::unsupported, "a GSI or SMI QP without a port cannot be asked for");
  spend(device, 1);
  // The kernel refuses a get without a port; for a QP that has none it answers EAGAIN on any port, or ENOENT if it is gone.
  const PortNum port = record.port.value ? record.port : PortNum{1};
  return source_.get(index, port, record.type, record.qpn);
}

void Reconciler::ask_suspects(DeviceIndex index, Device& device) {
  if (options_.polls_per_tick == 0) return;
  // A part stays, half for a dump, else an eighth for the sweep: errors that never end must not stop either.
  const std::size_t all = room(device), kept = device.dumping || !device.seeded ? all / 2 : all / 8;
  std::size_t left = std::min(all - kept, kSuspectsPerTick);
  while (true) {
    if (device.suspicions.empty()) device.suspicions = hooks_.suspicions(device.name);
    if (device.suspicions.empty()) return;
    if (left == 0) return device.budget->put_off();
    std::vector<QpRecord> batch;
    {
      const std::lock_guard lock(table_mutex_);
      batch = table_.suspects(index, device.suspicions, left);
    }
    if (batch.empty()) device.suspicions.clear();  // answered
    ask(index, device, batch);
    left -= batch.size();
  }
}

void Reconciler::sweep(DeviceIndex index, Device& device) {
  std::vector<QpRecord> batch;
  const std::size_t affordable = room(device), polls = std::min<std::size_t>(options_.polls_per_tick, affordable);
  if (polls < options_.polls_per_tick) device.budget->put_off();
  {
    const std::lock_guard lock(table_mutex_);
    batch = table_.next_tracked(index, device.sweep_from, polls);
    if (!batch.empty()) device.sweep_from = batch.back().key;
    if (!self_check_.owners_verified())
      std::ranges::move(table_.newest_from_bpf(index, std::min(kUnverifiedProbe, affordable - polls)), std::back_inserter(batch));
  }
  ask(index, device, batch);
}

void Reconciler::ask(DeviceIndex index, Device& device, const std::vector<QpRecord>& batch) {
  for (const QpRecord& record : batch) {
    const BootTime asked = hooks_.now();
    const auto answer = get(index, device, record);
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
        device.unseen.push_back(record);
      }
    }
    if (dead) found_dead(device, *dead, asked);
  }
}

void Reconciler::found_dead(const Device& device, const QpRecord& before, BootTime asked) {
  std::optional<BootTime> suspected;
  for (const Suspicion& one : device.suspicions) {
    if (one.whom.covers(before) && one.at < asked) suspected = std::max(suspected.value_or(BootTime{}), one.at);
  }
  if (hooks_.events_on() || suspected) hooks_.found_dead(device.name, before, asked, suspected);
}

}  // namespace qpscope
