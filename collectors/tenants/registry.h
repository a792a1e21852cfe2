// SPDX-License-Identifier: Apache-2.0
// The sources of tenants, in the order in which they are asked.
#pragma once

#include <memory>
#include <vector>

#include "collectors/host/sysroot.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/tenant.h"

namespace qpscope {

// Fresh resolvers, used by one thread, which may block in files below `root` (that must outlive them). Somebody answers for
// every owner whose cgroup path or module is known.
std::vector<std::unique_ptr<TenantResolver>> make_resolvers(const Sysroot& root, const TenantsConfig& config, ClockFn now);

}  // namespace qpscope
