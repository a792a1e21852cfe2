// SPDX-License-Identifier: Apache-2.0
#include "collectors/vocabulary/netdev_statistics.h"

#include <catch2/catch.hpp>
#include <set>

using namespace qpscope;

namespace {

constexpr std::string_view kDrivers[] = {"mlx5_core", "bnxt_en", "ice", "ena"};

// "qpscope_family label /per_unit"
std::string meaning(std::string_view driver, std::string_view name) {
  const auto match = match_statistic(netdev_table(driver), name);
  if (!match) return "-";
  std::string out(match->meaning->family->name.substr(8));
  if (!match->label().empty()) out += " " + match->label();
  if (match->meaning->per_unit != 1) out += " /" + std::to_string(static_cast<int>(match->meaning->per_unit));
  return out;
}

}  // namespace

TEST_CASE("netdev statistics: meanings", "[vocabulary.netdev_statistics]") {
  CHECK(meaning("mlx5_core", "rx_prio3_pause") == "port_rx_pfc_frames_total 3");
  CHECK(meaning("mlx5_core", "tx_prio0_pause_duration") == "port_tx_pfc_pause_seconds_total 0 /1000000");
  CHECK(meaning("mlx5_core", "rx_global_pause_duration") == "port_rx_pause_seconds_total /1000000");
  CHECK(meaning("mlx5_core", "rx_err_lane_3_phy") == "port_phy_lane_corrected_bit_errors_total 3");
  CHECK(meaning("mlx5_core", "rx_prio7_buf_discard") == "port_rx_discards_total host_buffer");
  CHECK(meaning("mlx5_core", "outbound_pci_stalled_rd") == "device_pcie_read_stalled_ratio /100");
  CHECK(meaning("mlx5_core", "outbound_pci_stalled_rd_events") == "device_pcie_read_stalled_seconds_total");
  CHECK(meaning("mlx5_core[ib_ipoib]", "link_down_events_phy") == "port_phy_link_down_events_total");
  CHECK(meaning("bnxt_en", "pfc_pri3_rx_duration_us") == "port_rx_pfc_pause_seconds_total 3 /1000000");
  CHECK(meaning("bnxt_en", "rx_pfc_ena_frames_pri7") == "port_rx_pfc_frames_total 7");
  CHECK(meaning("ice", "tx_priority_2_xoff.nic") == "port_tx_pfc_frames_total 2");
  CHECK(meaning("ena", "bw_in_allowance_exceeded") == "port_rx_discards_total bandwidth_allowance");
}

TEST_CASE("netdev statistics: what has none", "[vocabulary.netdev_statistics]") {
  for (const char* name : {"", "rx_prio_pause", "rx_prio16_pause", "rx_prio03_pause", "rx_prio99999999999999999999_pause", "rx_prio3_pause2", "rx_prio3_pauses", "xrx_prio3_pause",
                           "rx_prio-3_pause", "rx_prio#_pause", "#", "3", "rx0_packets", "rx_packets", "rx_pause_ctrl_phy"}) {
    INFO(name);
    CHECK(meaning("mlx5_core", name) == "-");
  }
  CHECK(meaning("ice", "rx_prio3_pause") == "-");
  CHECK(netdev_table("mlx5e_rep").empty());
  CHECK(netdev_table("").empty());
}

TEST_CASE("netdev statistics: every row is sound", "[vocabulary.netdev_statistics]") {
  const auto all = netdev_metrics();
  std::set<const MetricDef*> used;
  for (const std::string_view driver : kDrivers) {
    std::set<std::string_view> names;
    const auto table = netdev_table(driver);
    CHECK_FALSE(table.empty());
    for (const NetdevMeaning& row : table) {
      INFO(driver << " " << row.statistic);
      CHECK(names.insert(row.statistic).second);
      CHECK(row.statistic.size() <= 32);
      used.insert(row.family);
      const bool of_device = row.scope == NetdevScope::pci_function;
      CHECK(row.family->labels.count == (of_device ? 1U : 2U) + (row.label.empty() ? 0U : 1U));
      CHECK(row.family->labels.names[of_device ? 0 : 1] == (of_device ? "device" : "port"));
      CHECK((row.label == "#") <= row.statistic.contains('#'));
      CHECK((!row.every_priority || row.label == "#"));
      CHECK(row.family->name.ends_with("_total") == (row.family->type == MetricType::counter));
    }
  }
  CHECK(used == std::set<const MetricDef*>(all.begin(), all.end()));
}
