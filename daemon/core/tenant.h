// SPDX-License-Identifier: Apache-2.0
// Who a queue pair works for, and the interface of everything that can tell.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/owner.h"

namespace qpscope {

// `tenant` is who, `workload` which piece of work; the two are the identity. Raw strings: made safe at the door out.
struct Tenant {
  std::string tenant;
  std::string workload;
  // What else is known of the pair; empty: nothing, or the source has no such thing.
  std::string kind;  // the system that tells: "slurm", "kubernetes", "docker", …
  std::string slurm_job, slurm_user, k8s_namespace, unit;

  friend bool operator==(const Tenant& a, const Tenant& b) { return a.key() == b.key(); }
  friend auto operator<=>(const Tenant& a, const Tenant& b) { return a.key() <=> b.key(); }
  std::pair<std::string_view, std::string_view> key() const { return {tenant, workload}; }
};

// What a source says of an owner.
struct Attribution {
  Tenant tenant;
  std::string k8s_pod, k8s_container;  // which member of the workload
  bool settled = true;                 // false: a name is missing that may come; worth asking again
};

// Asked in order; the first that answers wins (collectors/tenants/README.md has the order). A rule may answer without a
// workload: then the next that answers gives it. May read files, and so block: called on one thread that does nothing else.
class TenantResolver {
 public:
  virtual ~TenantResolver() = default;
  virtual std::string_view name() const = 0;
  // nullopt: "not mine".
  virtual std::optional<Attribution> resolve(const Owner& owner) = 0;
};

}  // namespace qpscope
