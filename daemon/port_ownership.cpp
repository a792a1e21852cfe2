// SPDX-License-Identifier: Apache-2.0
#include "port_ownership.h"

namespace qpscope {
namespace {

using Is = PortVerdict::Is;

bool has_devx(const std::string& driver) { return driver == "mlx5_core"; }

}  // namespace

PortOwnership::PortOwnership(const Sysroot& root, QpTable& table, DevxTable& devx, std::mutex& table_mutex, const TenantMap& tenants, Hooks hooks)
    : root_(root), table_(table), devx_(devx), table_mutex_(table_mutex), tenants_(tenants), hooks_(std::move(hooks)) {}

void PortOwnership::survey(const std::map<DeviceIndex, std::string>& devices) {
  meet(devices);
  const Hooks::Missed missed = hooks_.missed();
  hooks_.drain();
  const bool reliable = hooks_.reliable();  // of all that has been delivered
  if (missed.number != missed_) {
    missed_ = missed.number;
    contexts_known_.clear();
    const std::lock_guard lock(table_mutex_);
    table_.owners().doubt_all();
  }
  for (const auto& [index, device] : devices_) {
    if (!reliable) break;
    if (has_devx(device.driver)) {
      if (!hooks_.devx_seen()) continue;
      look_at_contexts(index);
      if (!contexts_known_.contains(index)) continue;
    }
    compare(index);
  }
  publish(reliable, missed.as_of);
}

void PortOwnership::meet(const std::map<DeviceIndex, std::string>& devices) {
  for (auto it = devices_.begin(); it != devices_.end();) {
    const auto present = devices.find(it->first);
    if (present != devices.end() && present->second == it->second.name) {
      ++it;
      continue;
    }
    contexts_known_.erase(it->first);
    const std::lock_guard lock(table_mutex_);
    table_.owners().doubt(it->first);  // renamed; or it is gone, and so are its objects
    if (present == devices.end()) devx_.drop_device(it->first);
    it = devices_.erase(it);
  }
  for (const auto& [index, name] : devices) {
    if (devices_.contains(index)) continue;
    // One whose driver cannot be told now is met later: without it, nothing of it is known.
    if (auto driver = hooks_.driver(name)) devices_[index] = {name, std::move(*driver)};
  }
}

// All that exist when the probes are there are older; later ones are not, and what they make is seen.
void PortOwnership::look_at_contexts(DeviceIndex index) {
  {
    const std::lock_guard lock(table_mutex_);
    if (contexts_known_.contains(index) && !devx_.has_contexts(index)) return;
  }
  const auto contexts = hooks_.contexts(index);
  if (!contexts) return;
  const std::lock_guard lock(table_mutex_);
  devx_.contexts(index, *contexts, contexts_known_.insert(index).second, hooks_.now());
}

void PortOwnership::compare(DeviceIndex index) {
  std::uint64_t doubts = 0, events = 0;
  {
    const std::lock_guard lock(table_mutex_);
    if (!table_.owners().in_doubt(index)) return;
    doubts = table_.owners().doubts();
    events = table_.events(index);
  }
  const auto count = hooks_.count(index);
  if (!count) return;
  hooks_.drain();
  const std::lock_guard lock(table_mutex_);
  // Equal, and nothing has moved meanwhile: the two were read at one moment.
  if (*count == table_.tracked(index) && events == table_.events(index) && doubts == table_.owners().doubts()) table_.owners().trust(index, hooks_.now());
}

void PortOwnership::publish(bool reliable, BootTime until) {
  std::vector<DeviceDriver> drivers;
  std::map<std::string, DeviceIndex> indices;
  for (const auto& [index, device] : devices_) {
    drivers.push_back({device.name, device.driver});
    indices[device.name] = index;
  }
  std::map<std::pair<const PhysicalPort*, const Physical*>, std::shared_ptr<const Physical>> known;  // now, and before
  std::map<DevicePort, std::shared_ptr<const Physical>> ports;
  for (auto& [port, looks] : physical_ports(root_, drivers)) {
    const auto old = ports_.find(port);  // none but this thread changes them
    const Physical* before = old == ports_.end() ? nullptr : old->second.get();
    auto& now = known[{looks.get(), before}];
    if (!now) now = std::make_shared<const Physical>(physical(looks, indices, before));
    ports.emplace(port, now);
  }
  const std::lock_guard lock(mutex_);
  ports_ = std::move(ports);
  reliable_ = reliable;
  surveyed_ = until;
}

PortOwnership::Physical PortOwnership::physical(std::shared_ptr<const PhysicalPort> looks, const std::map<std::string, DeviceIndex>& indices, const Physical* before) const {
  Physical out{.looks = std::move(looks), .since = {}, .ports = {}};
  out.since = before && *before->looks == *out.looks ? before->since : hooks_.now();
  for (const auto& [device, number] : out.looks->ports) {
    const auto index = indices.find(device);
    out.whole &= index != indices.end();
    if (index != indices.end()) out.ports.emplace_back(index->second, number);
  }
  return out;
}

Ownership::Verdict PortOwnership::sole_owner(const std::string& device, PortNum port, BootTime from, BootTime to) {
  const std::lock_guard lock(mutex_);
  const auto found = ports_.find({device, port});
  if (!reliable_ || found == ports_.end()) return {};
  const Physical& physical = *found->second;
  if (!physical.whole || !physical.looks->stranger.empty() || from < physical.since) return {};
  PortVerdict sum{.is = Is::none, .tenant = 0};
  const std::lock_guard table_lock(table_mutex_);
  for (const auto& [index, number] : physical.ports) {
    sum = sum + table_.owners().verdict(index, number, from, to);
    if (sum.is == Is::unknown) break;  // and stays so
  }
  if (to > surveyed_ && (sum.is == Is::none || sum.is == Is::sole)) sum.is = Is::pending;
  if (sum.is != Is::sole) return {.is = sum.is, .tenant = {}, .workload = {}};
  const auto tenants = tenants_.tenants();
  const Tenant& who = tenants->at(sum.tenant);
  return {.is = Is::sole, .tenant = who.tenant, .workload = who.workload};
}

}  // namespace qpscope
