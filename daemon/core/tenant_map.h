// SPDX-License-Identifier: Apache-2.0
// Owner → TenantId: asks the resolvers in their order and gives each (tenant, workload) pair a small number.
// At `limit` pairs everything new is other/other. Ids are never given again: a pair keeps its number while the daemon runs.
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/qp_record.h"
#include "core/tenant.h"

namespace qpscope {

class TenantMap {
 public:
  static constexpr TenantId kUnknown = 0;
  static constexpr TenantId kOther = 1;

  TenantMap(std::vector<std::unique_ptr<TenantResolver>> resolvers, std::size_t limit);

  TenantId resolve(const Owner& owner);
  // All pairs so far, indexed by TenantId; the same object while no pair was added.
  std::shared_ptr<const std::vector<Tenant>> tenants() const;
  std::uint64_t overflows() const;  // owners that became other/other

 private:
  const std::vector<std::unique_ptr<TenantResolver>> resolvers_;
  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::map<Tenant, TenantId> ids_;
  std::shared_ptr<const std::vector<Tenant>> tenants_;
  std::uint64_t overflows_ = 0;
};

}  // namespace qpscope
