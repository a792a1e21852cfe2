// SPDX-License-Identifier: Apache-2.0
// Owner → TenantId: asks the resolvers in their order and gives each (tenant, workload) pair a small number.
//
// At most `limit` pairs; what comes later is other/other. So that jobs that ended do not use the limit up, a newcomer takes the
// number of the pair that was in use the longest ago, once that is kKeepSeconds. And one tenant alone leaves an eighth of the
// numbers to the others, however many workloads it makes up.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/qp_record.h"
#include "core/tenant.h"

namespace qpscope {

// Thread-safe but for resolve(), which belongs to one thread: no lock is held while a resolver reads files.
class TenantMap {
 public:
  static constexpr TenantId kUnknown = 0;
  static constexpr TenantId kOther = 1;
  static constexpr double kKeepSeconds = 600;

  TenantMap(std::vector<std::unique_ptr<TenantResolver>> resolvers, std::size_t limit);

  struct Named {
    TenantId id = kUnknown;
    bool settled = true;  // Attribution::settled
    std::string k8s_pod, k8s_container;
  };
  Named resolve(const Owner& owner, BootTime now);

  // These pairs have queue pairs now. Call it well within kKeepSeconds, or their numbers may go to others.
  void in_use(std::span<const TenantId> ids, BootTime now);
  // All pairs, indexed by TenantId; the same object while no pair was added.
  std::shared_ptr<const std::vector<Tenant>> tenants() const;
  // The number of a pair that has one; nullopt also for kUnknown and kOther, which are many.
  std::optional<TenantId> find(const std::string& tenant, const std::string& workload) const;
  std::uint64_t overflows() const;  // owners that became other/other

 private:
  TenantId number(Tenant tenant, BootTime now);
  std::optional<TenantId> free_number(std::string_view tenant, BootTime now);

  const std::vector<std::unique_ptr<TenantResolver>> resolvers_;
  const std::size_t limit_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<Tenant, TenantId> ids_;
  std::shared_ptr<const std::vector<Tenant>> tenants_;
  std::vector<BootTime> used_;  // when last, by TenantId
  std::uint64_t overflows_ = 0;
};

}  // namespace qpscope
