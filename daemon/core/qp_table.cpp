// SPDX-License-Identifier: Apache-2.0
#include "core/qp_table.h"

#include <algorithm>
#include <utility>

namespace qpscope {

QpTable::QpTable(std::size_t limit) : limit_(limit) {}

QpTable::HolderKey QpTable::holder_key(const QpRecord& record) {
  return {record.key.device, restrack_id(record.type, record.qpn, record.port)};
}

// The record an event speaks of. Serial 0 comes from a QP older than the probes, so it can only mean one that netlink told of.
QpRecord* QpTable::locate(const QpIdentity& qp) {
  if (qp.serial.value != 0) {
    const auto it = records_.find({qp.device, qp.serial});
    return it == records_.end() ? nullptr : &it->second;
  }
  if (!qp.tracked) return nullptr;  // netlink never tells of those
  const auto held = holders_.find({qp.device, restrack_id(qp.type, qp.qpn, qp.port)});
  if (held == holders_.end() || !is_seeded(held->second.serial)) return nullptr;
  QpRecord& record = records_.at(held->second);
  return record.type == qp.type ? &record : nullptr;
}

QpRecord* QpTable::insert(QpRecord record) {
  if (records_.size() >= limit_ && !make_room(record.tenant)) {
    ++totals_.evicted;
    lost_sight(record.key.device, record.tracked);
    return nullptr;
  }
  if (record.tracked) {
    holders_[holder_key(record)] = record.key;
    ++tracked_[record.key.device];
  }
  ++per_tenant_[record.tenant];
  ++version_;
  ++events_[record.key.device];
  const QpKey key = record.key;
  record.attributed = !record.owner || !record.owner->known;
  if (!record.attributed) waiting_.insert(key);
  QpRecord& kept = records_.insert_or_assign(key, std::move(record)).first->second;
  if (!kept.created) owners_.doubt(key.device);
  follow(kept, kept.changed);
  return &kept;
}

// As soon as it has a port.
void QpTable::follow(const QpRecord& record, BootTime at) {
  if (record.port.value == 0 || !carries_tenant_traffic(record)) return;
  owners_.begins(record.key, record.port, at);
  const bool unsettled = unsettled_.contains(record.key) || waiting_.contains(record.key);
  if (record.attributed) owners_.owned(record.key, record.tenant, unsettled ? PortOwners::Final::no : PortOwners::Final::yes);
}

void QpTable::set_port(QpRecord& record, PortNum port, BootTime at) {
  record.port = port;
  follow(record, at);
}

// Of one that lives on without us. If netlink counts it, a comparison will miss it.
void QpTable::lost_sight(DeviceIndex device, bool tracked) { tracked ? owners_.doubt(device) : owners_.forfeit(device); }

void QpTable::erase(const QpRecord& record, Gone how, BootTime at) {
  const bool evicted = how == Gone::evicted;
  const QpKey key = record.key;
  if (how == Gone::ended) {
    owners_.ends(key, at);
  } else {
    lost_sight(key.device, record.tracked || !evicted);
    owners_.forget(key);
  }
  if (record.tracked) {
    const auto held = holders_.find(holder_key(record));
    if (held != holders_.end() && held->second == key) {
      if (!evicted) bury(held->first);
      holders_.erase(held);
    }
    --tracked_[key.device];
  }
  if (const auto it = per_tenant_.find(record.tenant); it != per_tenant_.end() && --it->second == 0) per_tenant_.erase(it);
  ++version_;
  ++events_[key.device];
  if (evicted) {
    ++totals_.evicted;
  } else {
    ++totals_.destroyed[{key.device, record.type}];
  }
  waiting_.erase(key);
  unsettled_.erase(key);
  untell(record);
  records_.erase(key);
}

void QpTable::bury(HolderKey id) {
  if (dumps_running_.contains(id.device) && tombstones_.size() < limit_) tombstones_.insert(id);
}

// The newcomer's own tenant pays first. Otherwise the biggest tenant loses its longest unchanged QPs, up to a 64th of the table
// at once, so that the search for them is paid for by many inserts, but not so many that the newcomer's becomes the biggest.
bool QpTable::make_room(TenantId newcomer) {
  const auto biggest = std::ranges::max_element(per_tenant_, {}, [](const auto& entry) { return entry.second; });
  if (biggest == per_tenant_.end() || biggest->second < 2) return false;
  const auto own = per_tenant_.find(newcomer);
  const std::size_t held = own == per_tenant_.end() ? 0 : own->second;
  if (biggest->second <= held) return false;
  std::vector<const QpRecord*> victims;
  for (const auto& [key, record] : records_) {
    if (record.tenant == biggest->first) victims.push_back(&record);
  }
  const std::size_t count = std::max<std::size_t>(1, std::min(limit_ / 64, (victims.size() - held) / 2));
  std::ranges::nth_element(victims, victims.begin() + static_cast<std::ptrdiff_t>(count), {}, &QpRecord::changed);
  for (std::size_t i = 0; i < count; ++i) erase(*victims[i], Gone::evicted);
  return true;
}

void QpTable::change_state(QpRecord& record, QpState to, BootTime at) {
  if (record.state == to) return;  // a modify may name the state that the QP is in
  ++version_;
  ++totals_.transitions[{record.key.device, record.port, record.type, record.state, to}];
  if (to == QpState::rts && record.state == QpState::rtr && record.created) {
    const double took = seconds(at, *record.created);
    auto& setup = totals_.setup[record.key.device];
    const auto bucket = std::ranges::lower_bound(kSetupBounds, took) - kSetupBounds.begin();
    ++setup.counts[static_cast<std::size_t>(bucket)];
    setup.sum += took;
  }
  record.changed = at;
  record.state = to;
}

// The same QP under another name.
void QpTable::rekey(QpRecord& old, QpSerial serial) {
  untell(old);
  auto node = records_.extract(old.key);
  node.key() = {old.key.device, serial};
  QpRecord& record = node.mapped();
  for (auto* keys : {&waiting_, &unsettled_}) {
    if (keys->erase(record.key)) keys->insert(node.key());
  }
  owners_.renamed(record.key, node.key());
  record.key = node.key();
  record.from_bpf = !is_seeded(serial);
  holders_[holder_key(record)] = record.key;
  tell(record);
  records_.insert(std::move(node));
}

void QpTable::apply(const QpCreated& event, std::shared_ptr<const Owner> owner, TenantId tenant) {
  const QpKey key{event.qp.device, event.qp.serial};
  if (event.qp.serial.value != 0 && records_.contains(key)) return;
  if (event.qp.tracked) {
    const auto held = holders_.find({event.qp.device, restrack_id(event.qp.type, event.qp.qpn, event.qp.port)});
    if (held != holders_.end()) {
      QpRecord& old = records_.at(held->second);
      // A dump may show a QP before its event is read: then the holder from the dump is this very QP.
      if (is_seeded(old.key.serial) && old.type == event.qp.type && (event.found || event.at <= old.changed)) {
        if (!event.found) {
          if (std::exchange(old.seeded, false)) {
            --totals_.seeded[{old.key.device, old.type}];
            ++totals_.created[{old.key.device, old.type}];
          }
          old.created = event.at;
        }
        if (owner && owner->known) {
          give(old, std::move(owner), tenant);
          old.attributed = false;
          waiting_.insert(old.key);
        }
        // Known from netlink, it turns out to be one that the BPF side names: a better name.
        if (event.qp.serial.value != 0) rekey(old, event.qp.serial);
        ++version_;
        return;
      }
      // The kernel gives a number out again only after the driver let go of it: the old holder's destroy has not returned yet.
      erase(old, Gone::ended, event.at);
    }
  }
  auto& count = event.found ? totals_.seeded : totals_.created;
  ++count[{event.qp.device, event.qp.type}];
  if (event.qp.serial.value == 0 && !event.qp.tracked) {  // without any name its destroy could not be told
    ++totals_.evicted;
    ++version_;
    lost_sight(event.qp.device, false);
    return;
  }
  QpRecord record{.key = key, .qpn = event.qp.qpn, .type = event.qp.type, .state = event.found ? std::nullopt : std::optional(event.state),
                  .port = event.qp.port, .tracked = event.qp.tracked, .from_bpf = true, .seeded = event.found, .generation = event.found ? 0 : ++generations_,
                  .owner = std::move(owner), .tenant = tenant, .created = event.found ? std::nullopt : std::optional(event.at), .changed = event.at};
  if (event.qp.serial.value == 0) record.key.serial.value = kSeeded | next_seeded_++;
  insert(std::move(record));
}

void QpTable::apply(const QpModified& event) {
  QpRecord* record = locate(event.qp);
  if (!record) {
    // Its create was lost: what the kernel says of it now is still true. The owner stays unknown until netlink tells.
    if (event.qp.serial.value == 0) return;
    // It may be one that found no room: with its owner unknown it must not come in by this door.
    if (records_.size() >= limit_) return;
    apply(QpCreated{.at = event.at, .qp = event.qp, .owner = {}, .found = true}, nullptr, 0);
    record = locate(event.qp);
    if (!record) return;
  }
  if (event.qp.port != record->port && event.qp.port.value != 0 && !is_special(record->type)) set_port(*record, event.qp.port, event.at);
  if (event.to) change_state(*record, *event.to, event.at);
  if (event.to == QpState::init) tell(*record);
  const auto take = [](auto& field, const auto& told) {
    if (told) field = told;
  };
  if (event.to == QpState::reset) {  // a reset QP has no peer
    record->remote_qpn.reset();
    record->remote_gid.reset();
    record->remote_lid.reset();
  }
  take(record->remote_qpn, event.remote_qpn);
  take(record->remote_gid, event.remote_gid);
  take(record->local_gid, event.local_gid);
  take(record->remote_lid, event.remote_lid);
  take(record->traffic_class, event.traffic_class);
  take(record->path_mtu, event.path_mtu);
  take(record->timeout, event.timeout);
  take(record->retry_cnt, event.retry_cnt);
  take(record->rnr_retry, event.rnr_retry);
  ++version_;
}

void QpTable::apply(const QpDestroyed& event) {
  if (const QpRecord* record = locate(event.qp)) {
    erase(*record, Gone::ended, event.at);
  } else if (event.qp.tracked) {
    bury({event.qp.device, restrack_id(event.qp.type, event.qp.qpn, event.qp.port)});  // a dump may have its row already
  }
}

void QpTable::apply(const QpCallFailed& event) {
  ++totals_.failures[{event.device, event.call, event.error}];
  ++version_;
}

void QpTable::note_async(QpKey key, std::uint32_t event) {
  const auto found = records_.find(key);
  if (found == records_.end()) return;
  auto& counts = found->second.async_events;
  const auto known = std::ranges::find(counts, event, [](const auto& one) { return one.first; });
  if (known == counts.end()) {
    counts.emplace_back(event, 1);
  } else {
    ++known->second;
  }
  ++version_;
}

void QpTable::dump_begins(DeviceIndex device) { ++dumps_running_[device]; }

namespace {

// Without events a number that was given out again shows only by another type or another creator.
bool replaced(const QpRecord& record, const QpRow& row, BootTime asked) {
  if (record.from_bpf || record.changed >= asked) return false;
  const bool other_creator = record.owner && record.owner->known && record.owner->user && row.tid.value != 0 && record.owner->tid != row.tid;
  return record.type != row.type || other_creator;
}

}  // namespace

std::vector<QpRow> QpTable::dump_goes_on(const QpDump& part) {
  std::vector<QpRow> unknown;
  std::unordered_set<HolderKey, Hash> seen;  // a dump repeats rows
  for (const QpRow& row : part.rows) {
    const HolderKey id{part.device, restrack_id(row.type, row.qpn, row.port)};
    if (!seen.insert(id).second || tombstones_.contains(id)) continue;
    const auto held = holders_.find(id);
    if (held != holders_.end() && !replaced(records_.at(held->second), row, part.began)) {
      refresh(held->second, row, part.began);
      continue;
    }
    if (held != holders_.end()) erase(records_.at(held->second), Gone::vanished);
    unknown.push_back(row);
  }
  return unknown;
}

std::vector<QpRecord> QpTable::dump_ends(const QpDump& dump) {
  std::vector<QpRecord> unseen;
  if (dump.complete) {
    std::unordered_set<HolderKey, Hash> seen;
    seen.reserve(dump.rows.size());
    for (const QpRow& row : dump.rows) seen.insert({dump.device, restrack_id(row.type, row.qpn, row.port)});
    for (const auto& [id, key] : holders_) {
      if (id.device != dump.device || seen.contains(id)) continue;
      const QpRecord& record = records_.at(key);
      // Driver-internal types are listed only when a reader asks for driver details (core/nldev.c, RESTRACK_DD).
      const bool listed = static_cast<std::uint32_t>(record.type) < static_cast<std::uint32_t>(QpType::driver);
      if (listed && record.changed < dump.began && record.created.value_or(BootTime{}) < dump.began) unseen.push_back(record);
    }
  }
  if (const auto running = dumps_running_.find(dump.device); running != dumps_running_.end() && --running->second == 0) {
    dumps_running_.erase(running);
    std::erase_if(tombstones_, [&](const HolderKey& id) { return id.device == dump.device; });
  }
  return unseen;
}

void QpTable::refresh(QpKey key, const QpRow& row, BootTime asked) {
  const auto it = records_.find(key);
  if (it == records_.end()) return;
  QpRecord& record = it->second;
  record.asked = std::max(record.asked, asked);
  if (record.type != row.type) return;                                                   // another QP's answer
  if (record.changed >= asked || record.created.value_or(BootTime{}) >= asked) return;  // the answer may be older than the event
  if (record.port.value == 0 && row.port.value != 0 && !is_special(record.type)) {
    owners_.doubt(key.device);  // since when?
    set_port(record, row.port, asked);
    ++version_;
    tell(record);
  }
  if (row.remote_qpn && row.remote_qpn->value != 0 && record.remote_qpn != row.remote_qpn) {
    record.remote_qpn = row.remote_qpn;
    ++version_;
  }
  // Hardware moves a QP to ERR (retries exceeded, access error) without any modify call: netlink is how one learns of it.
  if (row.state && record.state != row.state) {
    if (record.state) {
      if (*row.state == QpState::err) ++totals_.found_in_err[{key.device, record.port}];
      change_state(record, *row.state, asked);
    } else {
      record.state = row.state;
      ++version_;
    }
  }
}

void QpTable::note_asked(QpKey key, BootTime asked) {
  if (const auto it = records_.find(key); it != records_.end()) it->second.asked = std::max(it->second.asked, asked);
}

bool QpTable::add(DeviceIndex device, const QpRow& row, std::shared_ptr<const Owner> owner, TenantId tenant, BootTime now, Why why) {
  const HolderKey id{device, restrack_id(row.type, row.qpn, row.port)};
  if (holders_.contains(id)) return false;
  QpRecord record{.key = {device, {kSeeded | next_seeded_++}}, .qpn = row.qpn, .type = row.type, .state = row.state, .port = row.port,
                  .seeded = why == Why::seed, .generation = why == Why::seed ? 0 : ++generations_, .owner = std::move(owner), .tenant = tenant, .remote_qpn = row.remote_qpn, .changed = now};
  if (record.remote_qpn && record.remote_qpn->value == 0) record.remote_qpn.reset();
  if (!insert(std::move(record))) return false;
  if (why == Why::drift) ++totals_.drift_kernel_only;
  ++(why == Why::seed ? totals_.seeded : totals_.created)[{device, row.type}];
  return true;
}

bool QpTable::remove_vanished(QpKey key, Why why) {
  const auto it = records_.find(key);
  if (it == records_.end()) return false;
  if (why == Why::drift) ++totals_.drift_table_only;
  erase(it->second, Gone::vanished);
  return true;
}

void QpTable::drop_device(DeviceIndex device) {
  std::vector<QpKey> keys;
  for (const auto& [key, record] : records_) {
    if (key.device == device) keys.push_back(key);
  }
  for (const QpKey& key : keys) erase(records_.at(key), Gone::vanished);
  owners_.drop_device(device);
}

void QpTable::drop_bpf() {
  std::vector<QpKey> keys;
  for (const auto& [key, record] : records_) {
    if (record.from_bpf) keys.push_back(key);
  }
  for (const QpKey& key : keys) erase(records_.at(key), Gone::vanished);
}

void QpTable::forget_serials() {
  std::vector<QpKey> keys;
  for (const auto& [key, record] : records_) {
    if (!is_seeded(key.serial)) keys.push_back(key);
  }
  for (const QpKey& key : keys) {
    QpRecord& record = records_.at(key);
    if (record.tracked) {
      rekey(record, {kSeeded | next_seeded_++});
    } else {
      erase(record, Gone::vanished);
    }
  }
  ++version_;
}

std::vector<QpTable::Waiting> QpTable::take_waiting() {
  std::vector<Waiting> out;
  out.reserve(waiting_.size());
  for (const QpKey& key : waiting_) {
    const QpRecord& record = records_.at(key);
    out.push_back({key, record.owner, record.created.value_or(record.changed)});
  }
  waiting_.clear();
  return out;
}

void QpTable::attribute(QpKey key, std::shared_ptr<const Owner> owner, TenantId tenant, Settled settled) {
  const auto it = records_.find(key);
  if (it == records_.end()) return;
  give(it->second, std::move(owner), tenant);
  it->second.attributed = true;
  owners_.owned(key, tenant, settled == Settled::yes ? PortOwners::Final::yes : PortOwners::Final::no);
  tell(it->second);
  if (settled == Settled::no) unsettled_.insert(key);
}

void QpTable::retry_unsettled() {
  waiting_.merge(unsettled_);
  unsettled_.clear();
}

namespace {

bool can_be_bound(QpType type) { return !is_special(type) && static_cast<std::uint32_t>(type) < static_cast<std::uint32_t>(QpType::driver); }

}  // namespace

bool QpTable::countable(const QpRecord& record) { return record.tracked && record.attributed && record.port.value != 0 && can_be_bound(record.type); }

void QpTable::tell(const QpRecord& record) {
  if (countable(record)) countable_[record.key.device].add(record.tenant, record.key);
}

void QpTable::untell(const QpRecord& record) {
  if (const auto told = countable_.find(record.key.device); told != countable_.end()) told->second.remove(record.tenant, record.key);
}

std::vector<QpRecord> QpTable::take_countable(DeviceIndex device, std::size_t most, bool from_bpf) {
  std::vector<QpRecord> out;
  const auto found = countable_.find(device);
  if (found == countable_.end()) return out;
  const auto ready = [&](QpKey key) { return from_bpf || !records_.at(key).from_bpf; };
  for (const QpKey& key : found->second.take(most, ready)) out.push_back(records_.at(key));
  return out;
}

void QpTable::retell_countable(DeviceIndex device) {
  for (const auto& [key, record] : records_) {
    if (key.device == device) tell(record);
  }
}

bool QpTable::has_countable(DeviceIndex device) const {
  const auto found = countable_.find(device);
  return found != countable_.end() && !found->second.empty();
}

std::size_t QpTable::count_countable(DeviceIndex device, PortNum port) const {
  return static_cast<std::size_t>(std::ranges::count_if(records_, [&](const auto& entry) {
    const QpRecord& record = entry.second;
    return record.key.device == device && record.port == port && record.tracked && can_be_bound(record.type);
  }));
}

// It is told again once its tenant has been looked for.
void QpTable::give(QpRecord& record, std::shared_ptr<const Owner> owner, TenantId tenant) {
  untell(record);
  if (const auto old = per_tenant_.find(record.tenant); old != per_tenant_.end() && --old->second == 0) per_tenant_.erase(old);
  ++per_tenant_[tenant];
  record.owner = std::move(owner);
  record.tenant = tenant;
  ++version_;
}

const QpRecord* QpTable::find(QpKey key) const {
  const auto it = records_.find(key);
  return it == records_.end() ? nullptr : &it->second;
}

const QpRecord* QpTable::holder(DeviceIndex device, QpType type, Qpn qpn, PortNum port) const {
  const auto it = holders_.find({device, restrack_id(type, qpn, port)});
  return it == holders_.end() ? nullptr : find(it->second);
}

std::vector<TenantId> QpTable::tenants() const {
  std::vector<TenantId> out;
  for (const auto& [tenant, count] : per_tenant_) out.push_back(tenant);
  return out;
}

std::size_t QpTable::tracked(DeviceIndex device) const {
  const auto it = tracked_.find(device);
  return it == tracked_.end() ? 0 : it->second;
}

std::vector<QpRecord> QpTable::next_tracked(DeviceIndex device, QpKey from, std::size_t most) const {
  std::vector<const QpRecord*> found;
  for (const auto& [key, record] : records_) {
    if (key.device == device && record.tracked) found.push_back(&record);
  }
  // Those after `from` first, then from the start: one order for all.
  const auto rank = [from](const QpRecord* r) { return std::pair(r->key.serial <= from.serial, r->key.serial); };
  const std::size_t count = std::min(most, found.size());
  std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(count), {}, rank);
  std::vector<QpRecord> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(*found[i]);
  return out;
}

std::vector<QpRecord> QpTable::suspects(DeviceIndex device, std::span<const Suspicion> suspicions, std::size_t most) const {
  constexpr double kRecent = 10;
  using Rank = std::tuple<bool, bool, bool, QpSerial>;
  std::vector<std::pair<Rank, const QpRecord*>> found;
  for (const auto& [key, record] : records_) {
    if (key.device != device || !record.tracked || record.state == QpState::err) continue;
    BootTime at;  // of the last suspicion
    bool tenant = false;
    for (const Suspicion& one : suspicions) {
      if (!one.whom.covers(record)) continue;
      at = std::max(at, one.at);
      tenant |= one.whom.tenant.has_value();
    }
    if (at <= record.asked || record.created.value_or(BootTime{}) >= at) continue;
    const bool sends = record.state == QpState::rts || record.state == QpState::sqd || record.state == QpState::sqe;
    found.emplace_back(Rank(!tenant, seconds(at, record.changed) < kRecent, !sends, key.serial), &record);
  }
  const std::size_t count = std::min(most, found.size());
  std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<QpRecord> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(*found[i].second);
  return out;
}

std::vector<QpRecord> QpTable::newest_from_bpf(DeviceIndex device, std::size_t most) const {
  std::vector<const QpRecord*> found;
  for (const auto& [key, record] : records_) {
    const bool user = record.owner && record.owner->known && record.owner->user;
    if (key.device == device && record.tracked && record.from_bpf && user && record.port.value != 0) found.push_back(&record);
  }
  const std::size_t count = std::min(most, found.size());
  std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(count), std::ranges::greater{}, &QpRecord::created);
  std::vector<QpRecord> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(*found[i]);
  return out;
}

std::uint64_t QpTable::events(DeviceIndex device) const {
  const auto it = events_.find(device);
  return it == events_.end() ? 0 : it->second;
}

std::vector<QpRecord> QpTable::all() const {
  std::vector<QpRecord> out;
  out.reserve(records_.size());
  for (const auto& [key, record] : records_) out.push_back(record);
  std::ranges::sort(out, {}, &QpRecord::key);
  return out;
}

}  // namespace qpscope
