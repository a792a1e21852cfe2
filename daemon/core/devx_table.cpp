// SPDX-License-Identifier: Apache-2.0
#include "core/devx_table.h"

namespace qpscope {

void DevxTable::apply(const DevxObject& event, std::shared_ptr<const Owner> owner) {
  const auto known = keys_.find({event.device, event.handle});
  if (known != keys_.end()) {  // its end, or that of one whose end was lost: a handle has one holder
    owners_.ends(known->second, event.at);
    erase(known->second);
  }
  if (event.what == DevxObject::What::created) create(event, std::move(owner));
}

void DevxTable::create(const DevxObject& event, std::shared_ptr<const Owner> owner) {
  if (objects_.size() >= limit_) return owners_.forfeit(event.device);
  const QpKey key{event.device, {kDevx | next_++}}, handle{event.device, event.handle};
  // It needs no verb of ib_core to get a port, so that it counts from its birth.
  owners_.begins(key, PortOwners::kEveryPort, event.at);
  if (owner && owner->known) {
    waiting_.insert(key);
  } else {
    owners_.owned(key, 0, PortOwners::Final::yes);
  }
  keys_[handle] = key;
  objects_[key] = {.handle = handle, .owner = std::move(owner), .created = event.at};
}

void DevxTable::erase(QpKey key) {
  waiting_.erase(key);
  unsettled_.erase(key);
  keys_.erase(objects_.at(key).handle);
  objects_.erase(key);
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

std::map<std::pair<DeviceIndex, TenantId>, std::size_t> DevxTable::counts() const {
  std::map<std::pair<DeviceIndex, TenantId>, std::size_t> out;
  for (const auto& [key, object] : objects_) ++out[{key.device, object.tenant}];
  return out;
}

}  // namespace qpscope
