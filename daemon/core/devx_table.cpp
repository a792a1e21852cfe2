// SPDX-License-Identifier: Apache-2.0
#include "core/devx_table.h"

#include <algorithm>

namespace qpscope {

void DevxTable::apply(const DevxObject& event, std::shared_ptr<const Owner> owner) {
  const auto known = keys_.find({event.device, event.handle});
  if (known != keys_.end()) {  // its end, or that of one whose end was lost: a handle has one holder
    owners_.ends(known->second, event.at);
    erase(known->second);
  }
  if (event.what == DevxObject::What::created) insert({event.device, event.handle}, false, std::move(owner), event.at);
}

void DevxTable::insert(QpKey handle, bool context, std::shared_ptr<const Owner> owner, BootTime at) {
  if (objects_.size() >= limit_) return owners_.forfeit(handle.device);
  const QpKey key{handle.device, {kDevx | next_++}};
  // It needs no verb of ib_core to get a port, so that it counts from its birth.
  owners_.begins(key, PortOwners::kEveryPort, at);
  if (owner && owner->known) {
    waiting_.insert(key);
  } else {
    owners_.owned(key, 0, PortOwners::Final::yes);
  }
  (context ? contexts_ : keys_)[handle] = key;
  objects_[key] = {.handle = handle, .context = context, .owner = std::move(owner), .created = at};
}

void DevxTable::erase(QpKey key) {
  waiting_.erase(key);
  unsettled_.erase(key);
  const Object& object = objects_.at(key);
  (object.context ? contexts_ : keys_).erase(object.handle);
  objects_.erase(key);
}

void DevxTable::contexts(DeviceIndex device, const std::vector<Context>& present, bool new_ones, BootTime now) {
  std::set<std::uint64_t> numbers;
  for (const Context& one : present) numbers.insert(one.number);
  std::vector<QpKey> ended;
  for (const auto& [handle, key] : contexts_) {
    if (handle.device == device && !numbers.contains(handle.serial.value)) ended.push_back(key);
  }
  for (const QpKey& key : ended) {
    owners_.ends(key, now);
    erase(key);
  }
  if (!new_ones) return;
  for (const Context& one : present) {
    const QpKey handle{device, {one.number}};
    if (!contexts_.contains(handle)) insert(handle, true, one.owner, now);
  }
}

bool DevxTable::has_contexts(DeviceIndex device) const {
  return std::ranges::any_of(contexts_, [device](const auto& entry) { return entry.first.device == device; });
}

void DevxTable::drop_device(DeviceIndex device) {
  std::vector<QpKey> gone;
  for (const auto& [key, object] : objects_) {
    if (key.device == device) gone.push_back(key);
  }
  for (const QpKey& key : gone) {
    owners_.forget(key);
    erase(key);
  }
}

void DevxTable::clear() {
  std::set<DeviceIndex> devices;
  for (const auto& [key, object] : objects_) devices.insert(key.device);
  for (const DeviceIndex device : devices) {
    drop_device(device);
    owners_.doubt(device);
  }
}

std::vector<QpTable::Waiting> DevxTable::take_waiting() {
  std::vector<QpTable::Waiting> out;
  for (const QpKey& key : waiting_) {
    const Object& object = objects_.at(key);
    out.push_back({key, object.owner, object.created});
  }
  waiting_.clear();
  return out;
}

void DevxTable::attribute(QpKey key, std::shared_ptr<const Owner> owner, TenantId tenant, QpTable::Settled settled) {
  const auto it = objects_.find(key);
  if (it == objects_.end()) return;
  it->second.owner = std::move(owner);
  it->second.tenant = tenant;
  const bool final = settled == QpTable::Settled::yes;
  if (!final) unsettled_.insert(key);
  owners_.owned(key, tenant, final ? PortOwners::Final::yes : PortOwners::Final::no);
}

void DevxTable::retry_unsettled() {
  waiting_.merge(unsettled_);
  unsettled_.clear();
}

DevxTable::Counts DevxTable::counts() const {
  Counts out;
  for (const auto& [key, object] : objects_) {
    if (!object.context) ++out[{key.device, object.tenant}];
  }
  return out;
}

}  // namespace qpscope
