// SPDX-License-Identifier: Apache-2.0
// From (netdev driver, name in `ethtool -S`) to meaning: an allow-list, one table for each driver (netdev_DRIVER.cpp). What is not in a
// table is not exported: a NIC has hundreds of these, most of them of single rings.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/metric.h"

namespace qpscope {

// Whose statistic it is. On one card several netdevs may list the same physical port, a virtual function's with zeros that mean nothing.
enum class NetdevScope : std::uint8_t {
  physical_port,  // shared by all functions that send through it
  pci_function,   // the PCIe side of one function: of the device, not of its port
  function,       // this function's own traffic
};

struct NetdevMeaning {
  std::string_view statistic;   // "#" stands for a number
  const MetricDef* family;      // device, port and at most one label more; of pci_function device alone. A gauge is a level, and no counter
  NetdevScope scope = NetdevScope::physical_port;
  std::string_view label = {};  // that label's value; "#": the number
  double per_unit = 1;          // how many of it make one of the family's unit
  // The driver lists every priority: one that is off and has never counted anything is no news.
  bool every_priority = false;
};

struct NetdevMatch {
  const NetdevMeaning* meaning = nullptr;
  unsigned number = 0;  // that stood for "#"
  std::string label() const;
};

// `driver` as it calls itself (Ethtool::driver) or as its module is called. Empty: nothing is known of it.
std::span<const NetdevMeaning> netdev_table(std::string_view driver);
struct NetdevTable {
  std::string_view driver;
  std::span<const NetdevMeaning> rows;
};
std::span<const NetdevTable> netdev_tables();
// nullopt: no row has this name. Untrusted.
std::optional<NetdevMatch> match_statistic(std::span<const NetdevMeaning> table, std::string_view name);

// PFC frames by priority, for drivers without a table.
const MetricDef& pfc_frames_family(bool sent);

// The families of all tables.
MetricList netdev_metrics();

}  // namespace qpscope
