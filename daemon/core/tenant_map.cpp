// SPDX-License-Identifier: Apache-2.0
#include "core/tenant_map.h"

#include <algorithm>

namespace qpscope {
namespace {

// Numbers that are nobody's to lose: kUnknown and kOther.
constexpr std::size_t kFixed = 2;

std::vector<Tenant> fixed_pairs() {
  return {{.tenant = "unknown", .workload = "unknown", .kind = "unknown"}, {.tenant = "other", .workload = "other", .kind = "other"}};
}

}  // namespace

TenantMap::TenantMap(std::vector<std::unique_ptr<TenantResolver>> resolvers, std::size_t limit)
    : resolvers_(std::move(resolvers)), limit_(limit), tenants_(std::make_shared<const std::vector<Tenant>>(fixed_pairs())), used_(kFixed) {
  for (TenantId id = 0; id < kFixed; ++id) ids_.emplace(tenants_->at(id), id);
}

TenantMap::Named TenantMap::resolve(const Owner& owner, BootTime now) {
  if (!owner.known) return {};
  std::optional<Tenant> ruled;  // a rule's tenant that wants a workload
  for (const auto& resolver : resolvers_) {
    auto found = resolver->resolve(owner);
    if (!found) continue;
    Tenant& tenant = found->tenant;
    if (ruled) std::tie(tenant.tenant, tenant.kind) = std::tie(ruled->tenant, ruled->kind);
    if (!tenant.workload.empty()) {
      return {.id = number(std::move(tenant), now), .settled = found->settled, .k8s_pod = std::move(found->k8s_pod),
              .k8s_container = std::move(found->k8s_container)};
    }
    if (!ruled) ruled = std::move(tenant);
  }
  if (!ruled) return {};
  ruled->workload = "unknown";
  return {.id = number(std::move(*ruled), now), .settled = true, .k8s_pod = {}, .k8s_container = {}};
}

TenantId TenantMap::number(Tenant tenant, BootTime now) {
  const std::lock_guard lock(mutex_);
  if (const auto it = ids_.find(tenant); it != ids_.end()) return used_[it->second] = now, it->second;
  const auto id = free_number(tenant.tenant, now);
  if (!id) return ++overflows_, kOther;
  auto pairs = std::make_shared<std::vector<Tenant>>(*tenants_);
  if (*id < pairs->size()) {
    ids_.erase((*pairs)[*id]);
    (*pairs)[*id] = tenant;
    used_[*id] = now;
  } else {
    pairs->push_back(tenant);
    used_.push_back(now);
  }
  tenants_ = std::move(pairs);
  ids_.emplace(std::move(tenant), *id);
  return *id;
}

std::optional<TenantId> TenantMap::free_number(std::string_view tenant, BootTime now) {
  const bool full = tenants_->size() >= limit_ + kFixed;
  const auto own = std::count_if(tenants_->begin() + kFixed, tenants_->end(), [&](const Tenant& pair) { return pair.tenant == tenant; });
  const bool greedy = static_cast<std::size_t>(own) >= limit_ - limit_ / 8;
  if (!full && !greedy) return static_cast<TenantId>(tenants_->size());
  std::optional<TenantId> oldest;
  for (TenantId id = kFixed; id < used_.size(); ++id) {
    if (greedy && (*tenants_)[id].tenant != tenant) continue;  // it may replace its own
    if (seconds(now, used_[id]) > kKeepSeconds && (!oldest || used_[id] < used_[*oldest])) oldest = id;
  }
  return oldest;
}

void TenantMap::in_use(std::span<const TenantId> ids, BootTime now) {
  const std::lock_guard lock(mutex_);
  for (const TenantId id : ids) used_.at(id) = now;
}

std::shared_ptr<const std::vector<Tenant>> TenantMap::tenants() const {
  const std::lock_guard lock(mutex_);
  return tenants_;
}

std::optional<TenantId> TenantMap::find(const std::string& tenant, const std::string& workload) const {
  const std::lock_guard lock(mutex_);
  const auto found = ids_.find(Tenant{.tenant = tenant, .workload = workload});
  return found == ids_.end() || found->second < kFixed ? std::nullopt : std::optional(found->second);
}

std::uint64_t TenantMap::overflows() const {
  const std::lock_guard lock(mutex_);
  return overflows_;
}

}  // namespace qpscope
