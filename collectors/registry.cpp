// SPDX-License-Identifier: Apache-2.0
#include "collectors/registry.h"

#include <array>

#include "collectors/memory_regions.h"
#include "collectors/queue_pairs.h"
#include "collectors/tenant_counters.h"
#include "collectors/tenant_info.h"
#include "collectors/vocabulary/families.h"
#include "collectors/vocabulary/netdev_statistics.h"

namespace qpscope {

std::span<const CollectorRow* const> collector_rows() {
  static const std::array<const CollectorRow*, 9> rows{
      &kDeviceInfo, &kHwCounters, &kNetdevStatistics, &kPcieLink, &kPortErrors, &kPortInfo, &kPortState, &kPortTraffic, &kQpStatistics,
  };
  return rows;
}

std::vector<MetricList> collector_metrics() {
  std::vector<MetricList> lists{vocabulary_metrics(), netdev_metrics(), queue_pair_metrics(), memory_region_metrics(), tenant_metrics(), tenant_counter_metrics()};
  for (const CollectorRow* row : collector_rows()) lists.push_back(row->metrics);
  return lists;
}

}  // namespace qpscope
