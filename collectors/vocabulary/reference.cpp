// SPDX-License-Identifier: Apache-2.0
// The vocabulary as a page for people.
#include <algorithm>
#include <string>
#include <vector>

#include "collectors/vocabulary/netdev_statistics.h"
#include "collectors/vocabulary/vocabulary.h"

namespace qpscope {
namespace {

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

std::string width(const CounterShape& shape) {
  if (shape.gauge) return "gauge";
  if (shape.extended_only) return "64, else 32 that saturate";
  return std::to_string(shape.kind.bits) + (shape.kind.overflow == CounterKind::Overflow::saturates ? " that saturate" : "");
}

// qpscope_port_retransmits_total{cause="ack_timeout"}
std::string feeds(const CounterRow& row) {
  if (!row.family) return "";
  std::vector<std::string> values;
  append_labels(row, values);
  std::string labels;
  for (std::size_t i = 0; i < values.size(); ++i)
    labels += (labels.empty() ? "" : ",") + std::string(row.family->labels.list()[i + 2]) + "=\"" + values[i] + "\"";
  return code(std::string(row.family->name) + (labels.empty() ? "" : "{" + labels + "}")) + (row.summed ? " (summed)" : "");
}

std::string line(const CounterRow& row) {
  std::string names = code(row.counter);
  for (const std::string_view other : row.renames) names += other.empty() ? "" : ", " + code(other);
  std::string help(row.help);
  if (!row.source.empty()) help += " (" + std::string(row.source) + ")";
  return "| " + names + " | " + std::string(to_string(row.unit)) + " | " + width(row.shape) + " | " + feeds(row) + " | " + help + " |\n";
}

std::string line(const NetdevMeaning& row) {
  const bool of_device = row.scope == NetdevScope::pci_function;
  const auto names = row.family->labels.list();
  std::string family(row.family->name);
  if (!row.label.empty()) family += "{" + std::string(names[of_device ? 1 : 2]) + "=\"" + std::string(row.label) + "\"}";
  const char* scope = of_device ? "PCI function" : row.scope == NetdevScope::function ? "function" : "physical port";
  const std::string unit = row.per_unit == 1 ? "" : row.per_unit == 1e6 ? "microseconds" : "percent";
  return "| " + code(row.statistic) + " | " + unit + " | " + scope + " | " + code(family) + " | " + std::string(row.family->help) + " |\n";
}

}  // namespace

std::string_view to_string(Unit unit) {
  switch (unit) {
    case Unit::events:
      return "events";
    case Unit::packets:
      return "packets";
    case Unit::bytes:
      return "bytes";
    case Unit::words:
      return "4 bytes";
    case Unit::requests:
      return "requests";
    case Unit::objects:
      return "objects";
    case Unit::ticks:
      return "ticks";
    case Unit::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string vocabulary_markdown() {
  std::string out =
      "\n# Kernel counters\n\nWhat each driver's counters mean, and which family they feed. Names in other kernels stand behind the first. Every counter is "
      "exported by "
      "its kernel name as well;\none that is not here is exported by that alone (`qpscope_unmapped_counters`). `counters` are the IB PortCounters, the same on "
      "every driver.\n";
  for (const DriverTable* table : driver_tables()) {
    out += "\n## " + std::string(table->driver) + "\n\n" + std::string(table->source) + "\n";
    if (!table->representor_prefix.empty()) {
      out += "\n`" + std::string(table->representor_prefix) + "` before a name of 32 bits: the same of the function behind a representor's port.\n";
    }
    if (!table->rows.empty()) out += "\n| counter | unit | bits | family | meaning |\n| --- | --- | --- | --- | --- |\n";
    for (const CounterRow& row : table->rows) out += line(row);
  }
  out += "\n# Statistics of netdevs\n\nWhat `ethtool -S` says of a port's netdevs, by the netdev's driver: what is not here is not exported. `#` is a number.\n";
  for (const NetdevTable& table : netdev_tables()) {
    out += "\n## " + std::string(table.driver) + "\n\n| statistic | unit, where it is not the family's | whose | family | meaning |\n| --- | --- | --- | --- | --- |\n";
    for (const NetdevMeaning& row : table.rows) out += line(row);
  }
  return out;
}

}  // namespace qpscope
