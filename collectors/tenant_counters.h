// SPDX-License-Identifier: Apache-2.0
// The canonical port families once more, by tenant, and what of each nobody is credited with: twins of the families in vocabulary/families.h,
// with the same stems. qpscope_port_rx_bytes_total has qpscope_tenant_rx_bytes_total and qpscope_port_unattributed_rx_bytes_total.
#pragma once

#include <string>
#include <string_view>

#include "core/collector.h"
#include "core/metric.h"

namespace qpscope {

MetricList tenant_counter_metrics();
// Of a canonical port family. Labels: tenant, workload, device, port, method, then the family's own beyond device and port.
const MetricDef& tenant_twin(const MetricDef& family);
// Labels as the family's.
const MetricDef& unattributed_twin(const MetricDef& family);

// What the ledger says of a port, as samples. `driver`: as in vocabulary/vocabulary.h.
void add_tenant_counters(Reading& out, std::string_view driver, const std::string& device, const std::string& port);

}  // namespace qpscope
