// SPDX-License-Identifier: Apache-2.0
// The QP table's totals as samples: reads the table's copy, not the host. Pure.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/devx_table.h"
#include "core/metric.h"
#include "core/qp_table.h"
#include "core/tenant.h"

namespace qpscope {

struct QueuePairView {
  const QpTotals& totals;
  std::span<const QpRecord> records;
  std::span<const Tenant> tenants;                     // indexed by TenantId
  const std::map<DeviceIndex, std::string>& devices;   // records of a device without a name are left out
  DevxTable::Counts devx;                              // empty where they cannot be told
};

SampleList queue_pair_samples(const QueuePairView& view);
MetricList queue_pair_metrics();

}  // namespace qpscope
