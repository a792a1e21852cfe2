// SPDX-License-Identifier: Apache-2.0
#include "core/port_owners.h"

#include <algorithm>

#include "core/tenant_map.h"

namespace qpscope {
namespace {

using Is = PortVerdict::Is;

bool is_somebody(TenantId tenant) { return tenant != TenantMap::kUnknown && tenant != TenantMap::kOther; }

// What one life says by itself.
PortVerdict of_one(std::optional<TenantId> tenant) {
  if (!tenant) return {.is = Is::pending, .tenant = 0};
  if (!is_somebody(*tenant)) return {.is = Is::unknown, .tenant = 0};
  return {.is = Is::sole, .tenant = *tenant};
}

}  // namespace

bool carries_tenant_traffic(const QpRecord& qp) {
  // Above DRIVER are types that only the kernel makes (IB_QPT_RESERVED1 …): mlx5's own for memory registration, and below its GSI.
  if (is_special(qp.type) || static_cast<std::uint32_t>(qp.type) > static_cast<std::uint32_t>(QpType::driver)) return false;
  // mlx5 sends for its GSI through UD QPs of its own (hw/mlx5/gsi.c), mlx4 for those of its virtual functions (hw/mlx4/mad.c).
  const bool kernel = qp.owner && qp.owner->known && !qp.owner->user;
  return !kernel || (qp.owner->kern_name != "mlx5_ib" && qp.owner->kern_name != "mlx4_ib");
}

// In any order the same: that of one more life never makes an answer better.
PortVerdict operator+(const PortVerdict& a, const PortVerdict& b) {
  if (a.is == Is::unknown || b.is == Is::unknown) return {};
  const bool two = a.tenant != 0 && b.tenant != 0 && a.tenant != b.tenant;
  if (two || a.is == Is::shared || b.is == Is::shared) return {.is = Is::shared, .tenant = 0};
  const TenantId tenant = std::max(a.tenant, b.tenant);
  if (a.is == Is::pending || b.is == Is::pending) return {.is = Is::pending, .tenant = tenant};
  return {.is = tenant != 0 ? Is::sole : Is::none, .tenant = tenant};
}

PortOwners::Life* PortOwners::find(QpKey qp) {
  const auto it = lives_.find(qp);
  return it == lives_.end() ? nullptr : &it->second;
}

void PortOwners::enter(QpKey qp, const Life& life) {
  Device& device = devices_[qp.device];
  if (!life.final) {
    device.open.insert(qp.serial.value);
    return;
  }
  Presence& presence = device.present[{life.port, *life.tenant}];
  presence.since = presence.lives++ == 0 ? life.since : std::min(presence.since, life.since);
}

// Without `at` it never was what it is said to be.
void PortOwners::leave(QpKey qp, const Life& life, std::optional<BootTime> at) {
  Device& device = devices_[qp.device];
  const Share share{life.port, life.tenant.value_or(TenantMap::kUnknown)};
  BootTime since = life.since;
  if (life.final) {
    const auto presence = device.present.find(share);
    if (--presence->second.lives > 0) return;  // those that are left were there with it
    since = presence->second.since;
    device.present.erase(presence);
  } else {
    device.open.erase(qp.serial.value);
  }
  if (at) remember(device, {share, since, std::max(*at, life.since)});
}

void PortOwners::remember(Device& device, Span span) {
  if (!device.known_from) return;  // nobody will be told of it
  std::erase_if(device.past, [&](const Span& old) {
    if (old.share != span.share || old.from > span.to || old.to < span.from) return false;
    span.from = std::min(span.from, old.from);
    span.to = std::max(span.to, old.to);
    return true;
  });
  device.past.push_back(span);
  if (device.past.size() <= kMostSpans) return;
  const auto first = std::ranges::min_element(device.past, {}, &Span::to);
  device.known_from = std::max(*device.known_from, BootTime{first->to.value + 1});
  device.past.erase(first);
}

void PortOwners::begins(QpKey qp, PortNum port, BootTime at) {
  Life life{.port = port, .since = at, .tenant = {}, .final = false};
  if (Life* old = find(qp)) {
    if (old->port == port) return;
    life.tenant = old->tenant;
    life.final = old->final;
    leave(qp, *old, at);
  }
  lives_[qp] = life;
  enter(qp, life);
}

void PortOwners::owned(QpKey qp, TenantId tenant, Final final) {
  Life* life = find(qp);
  if (!life) return;
  leave(qp, *life, std::nullopt);
  life->tenant = tenant;
  life->final = final == Final::yes;
  enter(qp, *life);
}

void PortOwners::renamed(QpKey from, QpKey to) {
  auto node = lives_.extract(from);
  if (!node) return;
  Device& device = devices_[from.device];
  if (device.open.erase(from.serial.value) > 0) device.open.insert(to.serial.value);
  node.key() = to;
  lives_.insert(std::move(node));
}

void PortOwners::ends(QpKey qp, BootTime at) {
  const Life* life = find(qp);
  if (!life) return;
  leave(qp, *life, at);
  lives_.erase(qp);
}

void PortOwners::forget(QpKey qp) {
  const Life* life = find(qp);
  if (!life) return;
  leave(qp, *life, std::nullopt);
  lives_.erase(qp);
}

void PortOwners::doubt(DeviceIndex device) {
  Device& one = devices_[device];
  one.known_from.reset();
  one.past.clear();
  ++doubts_;
}

void PortOwners::doubt_all() {
  for (auto& [index, device] : devices_) doubt(index);
  ++doubts_;
}

void PortOwners::forfeit(DeviceIndex device) {
  doubt(device);
  devices_[device].forfeited = true;
}

void PortOwners::trust(DeviceIndex device, BootTime at) {
  Device& one = devices_[device];
  if (!one.forfeited && !one.known_from) one.known_from = at;
}

bool PortOwners::in_doubt(DeviceIndex device) const {
  const auto it = devices_.find(device);
  return it == devices_.end() || !it->second.known_from;
}

void PortOwners::drop_device(DeviceIndex device) {
  std::erase_if(lives_, [device](const auto& life) { return life.first.device == device; });
  devices_.erase(device);
  ++doubts_;
}

PortVerdict PortOwners::verdict(DeviceIndex index, PortNum port, BootTime from, BootTime to) const {
  const auto found = devices_.find(index);
  if (found == devices_.end() || !found->second.known_from || from < *found->second.known_from) return {};
  const Device& device = found->second;
  const auto here = [port](PortNum other) { return other == port || other == kEveryPort; };
  PortVerdict out{.is = Is::none, .tenant = 0};
  for (const auto& [share, presence] : device.present) {
    if (here(share.port) && presence.since <= to) out = out + of_one(share.tenant);
  }
  for (const Span& span : device.past) {
    if (here(span.share.port) && span.from <= to && span.to >= from) out = out + of_one(span.share.tenant);
  }
  for (const std::uint64_t serial : device.open) {
    const Life& life = lives_.at({index, {serial}});
    if (here(life.port) && life.since <= to) out = out + of_one(life.tenant);
  }
  return out;
}

std::vector<TenantId> PortOwners::tenants() const {
  std::vector<TenantId> out;
  for (const auto& [index, device] : devices_) {
    for (const auto& [share, presence] : device.present) out.push_back(share.tenant);
    for (const Span& span : device.past) out.push_back(span.share.tenant);
  }
  for (const auto& [qp, life] : lives_) {
    if (!life.final && life.tenant) out.push_back(*life.tenant);
  }
  return out;
}

}  // namespace qpscope
