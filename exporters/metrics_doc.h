// SPDX-License-Identifier: Apache-2.0
// exporters/METRICS.md and --print-metrics: made from the MetricDef rows themselves.
#pragma once

#include <string>
#include <vector>

#include "core/metric.h"

namespace qpscope {

std::string metrics_markdown(std::vector<MetricList> rooms);

}  // namespace qpscope
