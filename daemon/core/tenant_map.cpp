// SPDX-License-Identifier: Apache-2.0
#include "core/tenant_map.h"

namespace qpscope {

TenantMap::TenantMap(std::vector<std::unique_ptr<TenantResolver>> resolvers, std::size_t limit)
    : resolvers_(std::move(resolvers)),
      limit_(limit),
      ids_{{{"unknown", "unknown"}, kUnknown}, {{"other", "other"}, kOther}},
      tenants_(std::make_shared<const std::vector<Tenant>>(std::vector<Tenant>{{"unknown", "unknown"}, {"other", "other"}})) {}

TenantId TenantMap::resolve(const Owner& owner) {
  if (!owner.known) return kUnknown;
  const std::lock_guard lock(mutex_);
  for (const auto& resolver : resolvers_) {
    auto tenant = resolver->resolve(owner);
    if (!tenant) continue;
    if (const auto it = ids_.find(*tenant); it != ids_.end()) return it->second;
    if (tenants_->size() >= limit_ + 2) {
      ++overflows_;
      return kOther;
    }
    auto more = std::make_shared<std::vector<Tenant>>(*tenants_);
    const auto id = static_cast<TenantId>(more->size());
    more->push_back(*tenant);
    tenants_ = std::move(more);
    ids_.emplace(std::move(*tenant), id);
    return id;
  }
  return kUnknown;
}

std::shared_ptr<const std::vector<Tenant>> TenantMap::tenants() const {
  const std::lock_guard lock(mutex_);
  return tenants_;
}

std::uint64_t TenantMap::overflows() const {
  const std::lock_guard lock(mutex_);
  return overflows_;
}

}  // namespace qpscope
