// SPDX-License-Identifier: Apache-2.0
// The sources of tenants, in the order in which they are asked.
#pragma once

#include <memory>
#include <vector>

#include "core/tenant.h"

namespace qpscope {

// Fresh resolvers, used by one thread. Somebody answers for every owner whose cgroup path or module is known.
std::vector<std::unique_ptr<TenantResolver>> make_resolvers();

}  // namespace qpscope
