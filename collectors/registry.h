// SPDX-License-Identifier: Apache-2.0
// The list of collectors: one row each, explicit and sorted. Nothing registers itself.
#pragma once

#include <span>
#include <vector>

#include "core/collector.h"

namespace qpscope {

extern const CollectorRow kDeviceInfo, kHwCounters, kNetdevStatistics, kPcieLink, kPortErrors, kPortInfo, kPortState, kPortTraffic, kQpStatistics;

std::span<const CollectorRow* const> collector_rows();

// Everything that the collectors and the vocabulary may emit.
std::vector<MetricList> collector_metrics();

}  // namespace qpscope
