// SPDX-License-Identifier: Apache-2.0
// From (driver, kernel counter) to meaning: what an alert on retransmissions needs to work on every NIC. A counter without a row is
// exported by its kernel name all the same, as one of 64 bits.
//
// `driver` is what driver_of() says, the PCI driver or the module: "bnxt_en", "ice", "rdma_rxe". Names may be any bytes. Lookups hash, and
// are thread-safe; what is asked on each pass is better kept (known_counters.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collectors/vocabulary/counter_row.h"
#include "core/tenant_ledger.h"

namespace qpscope {

// Null: no row. Of the same names in later and earlier kernels the row is one.
const CounterRow* hw_counter_row(std::string_view driver, std::string_view counter);
const CounterRow* port_counter_row(std::string_view counter);

// The same, null also where the counter feeds no family. The IB PortCounters feed none that the driver's own counters do: bnxt_re shows
// the same bytes in both places.
const CounterRow* hw_counter_meaning(std::string_view driver, std::string_view counter);
const CounterRow* port_counter_meaning(std::string_view driver, std::string_view counter);
// For what is divided between tenants: the same without what a representor shows once more.
const CounterRow* counter_meaning(std::string_view driver, const PortCounter& counter);

// Another function's counter, seen through the port of its representor.
bool is_of_representor(std::string_view driver, std::string_view counter);

CounterShape hw_counter_shape(std::string_view driver, std::string_view counter);
// `extended`: the card has the 64-bit counters of bytes and packets.
CounterKind port_counter_kind(std::string_view counter, bool extended);

// The values of the labels beyond device and port.
void append_labels(const CounterRow& meaning, std::vector<std::string>& labels);
// device, port, and those.
Labels canonical_labels(const CounterRow& meaning, const std::string& device, const std::string& port);
// `value`: in the family's unit.
Sample canonical_sample(const CounterRow& meaning, const std::string& device, const std::string& port, double value);

// All tables, and the drivers that have no counters of their own; sorted.
std::span<const DriverTable* const> driver_tables();
// The second part of the reference: a table for each driver (Markdown).
std::string vocabulary_markdown();

}  // namespace qpscope
