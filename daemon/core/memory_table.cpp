// SPDX-License-Identifier: Apache-2.0
#include "core/memory_table.h"

#include <algorithm>
#include <unordered_set>

namespace qpscope {
namespace {

std::unordered_set<std::uint32_t> numbers_of(std::span<const MemoryRegion> regions) {
  std::unordered_set<std::uint32_t> out;
  out.reserve(regions.size());
  for (const MemoryRegion& one : regions) out.insert(one.number);
  return out;
}

}  // namespace

bool MemoryTable::misses(DeviceIndex device, std::span<const MemoryRegion> present) const {
  const auto known = regions_.find(device);
  if (known == regions_.end()) return false;
  const auto numbers = numbers_of(present);
  return std::ranges::any_of(known->second, [&](const auto& entry) { return !numbers.contains(entry.first); });
}

// First what goes: a thread's number may be another's by now, whose regions must not join those of the one that ended.
void MemoryTable::replace(DeviceIndex device, std::span<const MemoryRegion> present, BootTime now) {
  Regions& regions = regions_[device];
  auto numbers = numbers_of(present);
  std::erase_if(regions, [&](const auto& entry) {
    if (numbers.contains(entry.first)) return false;
    remove(entry.second);
    return true;
  });
  for (const MemoryRegion& one : present) {
    if (one.tid.value != 0 || !one.kern_name.empty()) continue;
    if (const auto known = regions.find(one.number); known != regions.end()) open_.erase(holders_.at(known->second.holder).who);  // its thread has ended
  }
  for (const MemoryRegion& one : present) {
    if (numbers.erase(one.number) == 0) continue;  // told before
    if (const auto known = regions.find(one.number); known != regions.end()) {
      if (known->second.bytes == one.bytes && known->second.on_demand == one.on_demand) continue;
      // Registered anew in place (ib_uverbs_rereg_mr): the same owner's.
      const QpKey key = known->second.holder;
      Holder& holder = holders_.at(key);
      Count& before = known->second.on_demand ? holder.on_demand : holder.pinned;
      --before.regions;
      before.bytes -= known->second.bytes;
      Count& after = one.on_demand ? holder.on_demand : holder.pinned;
      ++after.regions;
      after.bytes += one.bytes;
      known->second = {key, one.bytes, one.on_demand};
      continue;
    }
    const QpKey key = holder_of(device, one, now);
    Holder& holder = holders_.at(key);
    Count& count = one.on_demand ? holder.on_demand : holder.pinned;
    ++count.regions;
    count.bytes += one.bytes;
    regions[one.number] = {key, one.bytes, one.on_demand};
  }
}

QpKey MemoryTable::holder_of(DeviceIndex device, const MemoryRegion& region, BootTime now) {
  const auto [open, fresh] = open_.try_emplace({device, region.tid, region.kern_name}, QpKey{device, {next_}});
  if (!fresh) return open->second;
  ++next_;
  auto owner = std::make_shared<Owner>();
  owner->user = region.tid.value != 0;
  owner->known = owner->user || !region.kern_name.empty();
  owner->tid = region.tid;
  owner->kern_name = region.kern_name;
  if (owner->known) waiting_.insert(open->second);
  holders_[open->second] = {.who = open->first, .owner = std::move(owner), .seen = now, .pinned = {}, .on_demand = {}};
  return open->second;
}

void MemoryTable::remove(const Region& region) {
  const auto it = holders_.find(region.holder);
  Holder& holder = it->second;
  Count& count = region.on_demand ? holder.on_demand : holder.pinned;
  --count.regions;
  count.bytes -= region.bytes;
  if (holder.pinned.regions + holder.on_demand.regions > 0) return;
  if (const auto open = open_.find(holder.who); open != open_.end() && open->second == it->first) open_.erase(open);
  waiting_.erase(it->first);
  unsettled_.erase(it->first);
  holders_.erase(it);
}

void MemoryTable::drop_device(DeviceIndex device) {
  replace(device, {}, {});
  regions_.erase(device);
}

std::vector<DeviceIndex> MemoryTable::devices() const {
  std::vector<DeviceIndex> out;
  for (const auto& [device, regions] : regions_) out.push_back(device);
  return out;
}

std::vector<QpTable::Waiting> MemoryTable::take_waiting() {
  std::vector<QpTable::Waiting> out;
  for (const QpKey& key : waiting_) {
    const Holder& holder = holders_.at(key);
    out.push_back({key, holder.owner, holder.seen});
  }
  waiting_.clear();
  return out;
}

void MemoryTable::attribute(QpKey key, std::shared_ptr<const Owner> owner, TenantId tenant, QpTable::Settled settled) {
  const auto it = holders_.find(key);
  if (it == holders_.end()) return;
  it->second.owner = std::move(owner);
  it->second.tenant = tenant;
  if (settled == QpTable::Settled::no) unsettled_.insert(key);
}

void MemoryTable::retry_unsettled() {
  waiting_.merge(unsettled_);
  unsettled_.clear();
}

MemoryTable::Counts MemoryTable::counts() const {
  Counts out;
  for (const auto& [key, holder] : holders_) {
    for (const bool on_demand : {false, true}) {
      const Count& from = on_demand ? holder.on_demand : holder.pinned;
      if (from.regions == 0) continue;
      Count& to = out[{key.device, holder.tenant, on_demand}];
      to.regions += from.regions;
      to.bytes += from.bytes;
    }
  }
  return out;
}

std::vector<TenantId> MemoryTable::tenants() const {
  std::set<TenantId> out;
  for (const auto& [key, holder] : holders_) out.insert(holder.tenant);
  return {out.begin(), out.end()};
}

}  // namespace qpscope
