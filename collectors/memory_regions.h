// SPDX-License-Identifier: Apache-2.0
// The memory table's counts as samples: reads the table's copy, not the host. Pure.
#pragma once

#include <map>
#include <span>
#include <string>

#include "core/memory_table.h"
#include "core/metric.h"
#include "core/tenant.h"

namespace qpscope {

// Regions of a device without a name are left out.
SampleList memory_region_samples(const MemoryTable::Counts& counts, std::span<const Tenant> tenants, const std::map<DeviceIndex, std::string>& devices);
MetricList memory_region_metrics();

}  // namespace qpscope
