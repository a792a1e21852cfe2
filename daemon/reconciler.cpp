// SPDX-License-Identifier: Apache-2.0
#include "reconciler.h"

#include <algorithm>
#include <iterator>

namespace qpscope {
namespace {

constexpr std::size_t kConfirmsPerTick = 40;  // of each kind and device: with the sweep within 100 firmware commands a second
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
  for (auto& [index, device] : devices_) device.seeded = false;
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
  const std::lock_guard lock(devices_mutex_);
  std::erase_if(devices_, [&](const auto& entry) {
    const bool gone = std::ranges::none_of(*listed, [&](const auto& present) { return present.first == entry.first; });
    if (gone) {
      const std::lock_guard table_lock(table_mutex_);
      table_.drop_device(entry.first);
    }
    return gone;
  });
  for (auto& [index, name] : *listed) devices_[index].name = std::move(name);  // a device can be renamed
  return {};
}

Result<> Reconciler::visit(DeviceIndex index, Device& device) {
  if (!device.seeded) {
    if (auto done = dump(index, device, QpTable::Why::seed); !done) return done;
    device.seeded = true;
    return {};
  }
  confirm(index, device);
  sweep(index, device);
  const auto differ = counts_differ(index, device);
  if (!differ) return std::unexpected(differ.error());
  const double interval = hooks_.events_on() ? options_.interval_seconds : options_.blind_interval_seconds;
  const bool due = seconds(hooks_.now(), device.last_dump) >= interval;
  // Without events equal counts prove nothing, so the dump is simply periodic then.
  if (due && (*differ || !hooks_.events_on())) return dump(index, device, hooks_.events_on() ? QpTable::Why::drift : QpTable::Why::found);
  return {};
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

Result<> Reconciler::dump(DeviceIndex index, Device& device, QpTable::Why why) {
  const BootTime began = hooks_.now();
  {
    const std::lock_guard lock(table_mutex_);
    table_.dump_begins();
  }
  device.last_dump = began;  // one that fails counts too: a broken device is not asked again and again
  auto dumped = source_.dump(index, began);
  // What happened before the dump's last row is in the ring by now; applied first, it explains the rows.
  hooks_.drain();
  if (!dumped) {
    const std::lock_guard lock(table_mutex_);
    table_.dump_ends({.device = index, .began = {}, .complete = false, .rows = {}});
    return std::unexpected(std::move(dumped.error()));
  }
  firmware_commands_ += dumped->rows.size();
  QpTable::DumpVerdict verdict;
  {
    const std::lock_guard lock(table_mutex_);
    verdict = table_.dump_ends(*dumped);
  }
  for (const QpRow& row : verdict.unknown) {
    if (why == QpTable::Why::drift) {
      device.unknown.push_back(row);  // believed once a later get confirms it
    } else {
      add(index, row, why);
    }
  }
  std::ranges::move(verdict.unseen, std::back_inserter(device.unseen));
  return {};
}

void Reconciler::add(DeviceIndex index, const QpRow& row, QpTable::Why why) {
  auto [owner, tenant] = hooks_.attribute(row);
  const BootTime now = hooks_.now();
  const std::lock_guard lock(table_mutex_);
  table_.add(index, row, std::move(owner), tenant, now, why);
}

// A tick after the dump or later: whatever was on its way then has arrived or ended by now.
void Reconciler::confirm(DeviceIndex index, Device& device) {
  for (const QpRow& row : take(device.unknown, kConfirmsPerTick)) {
    // The kernel refuses a get without a port, and one for a port that is not the QP's: a QP without a port is believed as it was.
    Result<QpRow> again = row.port.value ? source_.get(index, row.port, row.type, row.qpn) : Result<QpRow>(row);
    ++firmware_commands_;
    hooks_.drain();
    if (again) add(index, *again, QpTable::Why::drift);  // does nothing where an event told of it meanwhile
  }
  for (const QpRecord& record : take(device.unseen, kConfirmsPerTick)) {
    const auto answer = get(index, record);
    if (answer || answer.error().code != ErrorCode::not_found) continue;
    hooks_.drain();
    const std::lock_guard lock(table_mutex_);
    table_.remove_vanished(record.key, hooks_.events_on() ? QpTable::Why::drift : QpTable::Why::found);
  }
}

Result<QpRow> Reconciler::get(DeviceIndex index, const QpRecord& record) {
  // On 5.10 GSI QPs have no port all their life, and netlink knows them by a number that needs one: nobody can ask for them.
  if (is_special(record.type) && record.port.value == 0) return fail(ErrorCode::unsupported, "a GSI or SMI QP without a port cannot be asked for");
  ++firmware_commands_;
  // The kernel refuses a get without a port; for a QP that has none it answers EAGAIN on any port, or ENOENT if it is gone.
  const PortNum port = record.port.value ? record.port : PortNum{1};
  return source_.get(index, port, record.type, record.qpn);
}

void Reconciler::sweep(DeviceIndex index, Device& device) {
  std::vector<QpRecord> batch;
  {
    const std::lock_guard lock(table_mutex_);
    batch = table_.next_tracked(index, device.sweep_from, options_.polls_per_tick);
    if (!batch.empty()) device.sweep_from = batch.back().key;
    if (!self_check_.owners_verified()) std::ranges::move(table_.newest_from_bpf(index, kUnverifiedProbe), std::back_inserter(batch));
  }
  for (const QpRecord& record : batch) {
    const BootTime asked = hooks_.now();
    const auto answer = get(index, record);
    hooks_.drain();
    const std::lock_guard lock(table_mutex_);
    const QpRecord* present = table_.find(record.key);
    if (!present) continue;  // destroyed meanwhile
    const bool settled = seconds(asked, record.changed) > 1;  // else its destroy may be on its way
    if (answer || settled) self_check_.compare(*present, answer);
    if (answer) {
      table_.refresh(record.key, *answer, asked);
    } else if (answer.error().code == ErrorCode::not_found && settled) {
      device.unseen.push_back(record);
    }
  }
}

}  // namespace qpscope
