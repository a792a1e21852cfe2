// SPDX-License-Identifier: Apache-2.0
// One kernel counter: its names, what one count is, how wide it is, and which canonical family it feeds. One row, one counter.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/counter_total.h"
#include "core/metric.h"

namespace qpscope {

// What one count is.
enum class Unit : std::uint8_t { events, packets, bytes, words, requests, objects, ticks, unknown };
std::string_view to_string(Unit unit);

// How wide a counter is and what it does when it is full, or that it is no counter at all.
struct CounterShape {
  CounterKind kind;
  bool gauge = false;          // a level that rises and falls: shown as it is
  bool extended_only = false;  // 64 bits on cards with extended PortCounters; on others it saturates at 32
};
inline constexpr CounterShape k64{}, k32{.kind = kWraps32}, kGauge{.gauge = true}, kExtended{.extended_only = true};
constexpr CounterShape saturates(unsigned bits) { return {.kind = saturating(bits)}; }

struct CounterRow {
  std::string_view counter;                 // the file's name; one "*" at its begin or end stands for anything
  std::array<std::string_view, 2> renames;  // the same counter in other kernels
  Unit unit;
  CounterShape shape;
  const MetricDef* family = nullptr;  // canonical port family; null: raw alone
  std::string_view label = {};        // values of the labels it has beyond device and port, with "/" between two
  std::string_view help;              // one ASCII sentence
  std::string_view source = {};       // where its table's does not hold
  // One of several counters of a port that add up to one series: parts that do not overlap.
  bool summed = false;

  // What one count is in the family's unit.
  double scale() const { return unit == Unit::words ? 4 : 1; }
};

// The counters of one driver. All in static storage: samples point to families, ledgers outlive tables.
struct DriverTable {
  std::string_view driver;  // the RDMA driver: "bnxt_re"; "counters" for the IB PortCounters
  std::string_view source;  // kernel file below drivers/infiniband, and the document that explains it
  std::span<const CounterRow> rows;
  // The same counters of another function, seen through its representor's port: "vport_" + name. Q counters (32 bits) alone.
  std::string_view representor_prefix = {};
};

}  // namespace qpscope
