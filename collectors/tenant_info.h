// SPDX-License-Identifier: Apache-2.0
// What is known of the tenants that have queue pairs or registered memory now, as samples: reads the table's copy, not the host. Pure.
#pragma once

#include <cstddef>
#include <span>

#include "core/metric.h"
#include "core/qp_record.h"
#include "core/tenant.h"

namespace qpscope {

// `tenants` is indexed by TenantId. Pods and containers beyond kMostMembers are left out and counted.
inline constexpr std::size_t kMostMembers = 1024;
// `with_memory`: who has registered memory.
SampleList tenant_samples(std::span<const QpRecord> records, std::span<const TenantId> with_memory, std::span<const Tenant> tenants);
MetricList tenant_metrics();

}  // namespace qpscope
