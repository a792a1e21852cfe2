// SPDX-License-Identifier: Apache-2.0
// The one table from (driver, kernel counter) to meaning: what an alert on retransmissions needs to work on every NIC.
// A counter without a row is exported by its kernel name all the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/metric.h"
#include "core/tenant_ledger.h"

namespace qpscope {

struct CounterMeaning {
  std::string_view driver;       // kernel module: "mlx5_core", "rdma_rxe"; "" for every driver
  std::string_view counter;      // file name in hw_counters/ or counters/
  const MetricDef* family;       // canonical port family
  std::string_view label = {};   // values of the labels it has beyond device and port, with "/" between two
  double unit = 1;               // what one count is in the family's unit
};

// Null: no meaning known. `counters/` (IB PortCounters) means the same on every driver that has it.
const CounterMeaning* hw_counter_meaning(std::string_view driver, std::string_view counter);
const CounterMeaning* port_counter_meaning(std::string_view counter);
const CounterMeaning* counter_meaning(std::string_view driver, const PortCounter& counter);

// The canonical port families.
MetricList vocabulary_metrics();

// The histogram of the line's utilisation by what this counts; null where it counts no bytes of the port.
const MetricDef* utilization_family(const CounterMeaning& meaning);

// The values of the labels beyond device and port.
void append_labels(const CounterMeaning& meaning, std::vector<std::string>& labels);
// device, port, and those.
Sample canonical_sample(const CounterMeaning& meaning, const std::string& device, const std::string& port, double count);

}  // namespace qpscope
