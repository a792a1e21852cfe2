// SPDX-License-Identifier: Apache-2.0
// Who a queue pair works for, and the interface of everything that can tell.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/owner.h"

namespace qpscope {

// `tenant` is who, `workload` which piece of work. Raw strings: made safe at the door out.
struct Tenant {
  std::string tenant;
  std::string workload;
  friend auto operator<=>(const Tenant&, const Tenant&) = default;
};

// Asked in order; the first that answers wins (collectors/tenants/README.md has the order). Called on the event thread:
// a resolver that has to read files answers from its cache and says nullopt until it knows.
class TenantResolver {
 public:
  virtual ~TenantResolver() = default;
  virtual std::string_view name() const = 0;
  // nullopt: "not mine".
  virtual std::optional<Tenant> resolve(const Owner& owner) = 0;
};

}  // namespace qpscope
