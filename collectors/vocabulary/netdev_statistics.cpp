// SPDX-License-Identifier: Apache-2.0
#include "collectors/vocabulary/netdev_statistics.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "collectors/vocabulary/netdev_families.h"

namespace qpscope {
namespace netdev {

constexpr LabelNames kPort{"device", "port"}, kDevice{"device"};
constexpr MetricType kCounter = MetricType::counter, kGauge = MetricType::gauge;

// clang-format off: a table is read in columns
const MetricDef kRxPfcFrames{"qpscope_port_rx_pfc_frames_total", kCounter, "PFC frames received: we were told to stop sending this priority (ethtool -S rx_prioN_pause, or the driver's own name; else DCB indications).", kPort.with("priority")};
const MetricDef kTxPfcFrames{"qpscope_port_tx_pfc_frames_total", kCounter, "PFC frames sent: we told the peer to stop sending this priority. On ice the priorities of one traffic class count together (ethtool -S tx_prioN_pause, or the driver's own name; else DCB requests).", kPort.with("priority")};
const MetricDef kRxPfcPause{"qpscope_port_rx_pfc_pause_seconds_total", kCounter, "Time for which this priority was not sent because of PFC frames received (ethtool -S rx_prioN_pause_duration, or the driver's own name).", kPort.with("priority")};
const MetricDef kTxPfcPause{"qpscope_port_tx_pfc_pause_seconds_total", kCounter, "Time for which the peer was told not to send this priority (ethtool -S tx_prioN_pause_duration, or the driver's own name).", kPort.with("priority")};
const MetricDef kRxPfcTransitions{"qpscope_port_rx_pfc_transitions_total", kCounter, "Times this priority went from stopped to sending (ethtool -S rx_prioN_pause_transition, or the driver's own name).", kPort.with("priority")};
const MetricDef kRxPauseFrames{"qpscope_port_rx_pause_frames_total", kCounter, "802.3x pause frames received, which stop all priorities (ethtool -S rx_global_pause, or the driver's own name).", kPort};
const MetricDef kTxPauseFrames{"qpscope_port_tx_pause_frames_total", kCounter, "802.3x pause frames sent, which stop all priorities (ethtool -S tx_global_pause, or the driver's own name).", kPort};
const MetricDef kRxPauseSeconds{"qpscope_port_rx_pause_seconds_total", kCounter, "Time for which nothing was sent because of 802.3x pause frames received (ethtool -S rx_global_pause_duration).", kPort};
const MetricDef kTxPauseSeconds{"qpscope_port_tx_pause_seconds_total", kCounter, "Time for which the peer was told by 802.3x pause frames not to send (ethtool -S tx_global_pause_duration).", kPort};
const MetricDef kPauseStorms{"qpscope_port_tx_pause_storms_total", kCounter, "Times this port sent pause frames for so long that the card took it for a stalled host (ethtool -S tx_pause_storm_SEVERITY_events).", kPort.with("severity")};
const MetricDef kRxDiscards{"qpscope_port_rx_discards_total", kCounter, "Packets received and dropped: buffer, no room in the port's buffer; host_buffer, none in the host's part of it; congestion, by WRED; port, by the port for whatever reason; bandwidth_allowance, above what the cloud instance may receive (ethtool -S).", kPort.with("kind")};
const MetricDef kRxPriorityDiscards{"qpscope_port_rx_priority_discards_total", kCounter, "Packets of this priority received and dropped for lack of buffers; above 0 on a lossless priority it is not lossless. They are in qpscope_port_rx_discards_total too (ethtool -S rx_prioN_discards).", kPort.with("priority")};
const MetricDef kRxHostMarked{"qpscope_port_rx_host_congestion_marked_packets_total", kCounter, "Packets received that the card itself marked with congestion experienced, since the host took them too slowly (ethtool -S rx_prioN_marked).", kPort};
const MetricDef kPhySymbolErrors{"qpscope_port_phy_symbol_errors_total", kCounter, "Symbol errors during carrier (ethtool -S rx_symbol_err_phy).", kPort};
const MetricDef kPhyPcsSymbolErrors{"qpscope_port_phy_pcs_symbol_errors_total", kCounter, "Symbol errors that FEC did not correct (ethtool -S rx_pcs_symbol_err_phy, or the driver's own name).", kPort};
const MetricDef kPhyCorrectedBits{"qpscope_port_phy_fec_corrected_bit_errors_total", kCounter, "Bits that FEC corrected, on all lanes (ethtool -S rx_corrected_bits_phy).", kPort};
const MetricDef kPhyLaneCorrectedBits{"qpscope_port_phy_lane_corrected_bit_errors_total", kCounter, "Bits that FEC corrected, by lane: one far above the others is a bad lane (ethtool -S rx_err_lane_N_phy).", kPort.with("lane")};
const MetricDef kPhyCorrectedBlocks{"qpscope_port_phy_fec_corrected_blocks_total", kCounter, "Code words that FEC corrected (ethtool -S rx_fec_corrected_blocks).", kPort};
const MetricDef kPhyUncorrectedBlocks{"qpscope_port_phy_fec_uncorrected_blocks_total", kCounter, "Code words that FEC could not correct (ethtool -S rx_fec_uncorrectable_blocks).", kPort};
const MetricDef kPhyCrcErrors{"qpscope_port_phy_crc_errors_total", kCounter, "Frames received with a wrong frame check sequence (ethtool -S rx_crc_errors_phy, or the driver's own name).", kPort};
const MetricDef kPhyLinkDowns{"qpscope_port_phy_link_down_events_total", kCounter, "Times the physical layer lost the link, by the card's own count (ethtool -S link_down_events_phy, or the driver's own name).", kPort};
const MetricDef kPhyOversize{"qpscope_port_phy_oversize_packets_total", kCounter, "Frames received that were longer than the MTU allows (ethtool -S rx_oversize_pkts_phy, or the driver's own name).", kPort};
const MetricDef kPhyTxDiscards{"qpscope_port_phy_tx_discards_total", kCounter, "Packets that were to be sent and were dropped without an error (ethtool -S tx_discards_phy, or the driver's own name).", kPort};
const MetricDef kPhyTxErrors{"qpscope_port_phy_tx_errors_total", kCounter, "Packets that were dropped in sending for an error (ethtool -S tx_errors_phy, or the driver's own name).", kPort};
const MetricDef kPhyBufferThreshold{"qpscope_port_phy_rx_buffer_threshold_events_total", kCounter, "Times the port's receive buffer was more than 85 % full (ethtool -S rx_buffer_passed_thres_phy).", kPort};
const MetricDef kPhyRecoveries{"qpscope_port_phy_recoveries_total", kCounter, "Times the physical layer recovered without losing the link (ethtool -S total_success_recovery_phy).", kPort};
const MetricDef kPcieRxErrors{"qpscope_device_pcie_rx_signal_integrity_errors_total", kCounter, "PCIe link recoveries for errors that the card received (ethtool -S rx_pci_signal_integrity).", kDevice};
const MetricDef kPcieTxErrors{"qpscope_device_pcie_tx_signal_integrity_errors_total", kCounter, "PCIe link recoveries that the other side began, and CRC errors of what the card sent (ethtool -S tx_pci_signal_integrity).", kDevice};
const MetricDef kPcieOverflows{"qpscope_device_pcie_buffer_overflow_packets_total", kCounter, "Packets dropped because PCIe took them too slowly (ethtool -S outbound_pci_buffer_overflow).", kDevice};
const MetricDef kPcieReadStalled{"qpscope_device_pcie_read_stalled_ratio", kGauge, "Part of the last second for which the card had reads to send over PCIe and no credits for them (ethtool -S outbound_pci_stalled_rd).", kDevice};
const MetricDef kPcieWriteStalled{"qpscope_device_pcie_write_stalled_ratio", kGauge, "Part of the last second for which the card had writes to send over PCIe and no credits for them (ethtool -S outbound_pci_stalled_wr).", kDevice};
const MetricDef kPcieReadStalls{"qpscope_device_pcie_read_stalled_seconds_total", kCounter, "Seconds in which reads were stalled for more than 30 % of the time (ethtool -S outbound_pci_stalled_rd_events).", kDevice};
const MetricDef kPcieWriteStalls{"qpscope_device_pcie_write_stalled_seconds_total", kCounter, "Seconds in which writes were stalled for more than 30 % of the time (ethtool -S outbound_pci_stalled_wr_events).", kDevice};
const MetricDef kVportRxBytes{"qpscope_port_vport_rdma_rx_bytes_total", kCounter, "RDMA bytes received by this function's vport, as the netdev's driver counts them; another source than qpscope_port_rx_bytes_total (ethtool -S rx_vport_rdma_unicast_bytes, multicast).", kPort};
const MetricDef kVportTxBytes{"qpscope_port_vport_rdma_tx_bytes_total", kCounter, "RDMA bytes sent by this function's vport, as the netdev's driver counts them; another source than qpscope_port_tx_bytes_total (ethtool -S tx_vport_rdma_unicast_bytes, multicast).", kPort};
const MetricDef kVportRxPackets{"qpscope_port_vport_rdma_rx_packets_total", kCounter, "RDMA packets received by this function's vport, as the netdev's driver counts them (ethtool -S rx_vport_rdma_unicast_packets, multicast).", kPort};
const MetricDef kVportTxPackets{"qpscope_port_vport_rdma_tx_packets_total", kCounter, "RDMA packets sent by this function's vport, as the netdev's driver counts them (ethtool -S tx_vport_rdma_unicast_packets, multicast).", kPort};
// clang-format on

}  // namespace netdev

namespace {

constexpr unsigned kMostNumber = 15;  // of a priority or lane

constexpr std::array<const MetricDef*, 37> kFamilies{
    &netdev::kRxPfcFrames,     &netdev::kTxPfcFrames,        &netdev::kRxPfcPause,       &netdev::kTxPfcPause,           &netdev::kRxPfcTransitions,
    &netdev::kRxPauseFrames,   &netdev::kTxPauseFrames,      &netdev::kRxPauseSeconds,   &netdev::kTxPauseSeconds,       &netdev::kPauseStorms,
    &netdev::kRxDiscards,      &netdev::kRxPriorityDiscards, &netdev::kRxHostMarked,     &netdev::kPhySymbolErrors,      &netdev::kPhyPcsSymbolErrors,
    &netdev::kPhyCorrectedBits, &netdev::kPhyLaneCorrectedBits, &netdev::kPhyCorrectedBlocks, &netdev::kPhyUncorrectedBlocks, &netdev::kPhyCrcErrors,
    &netdev::kPhyLinkDowns,    &netdev::kPhyOversize,        &netdev::kPhyTxDiscards,    &netdev::kPhyTxErrors,          &netdev::kPhyBufferThreshold,
    &netdev::kPhyRecoveries,   &netdev::kPcieRxErrors,       &netdev::kPcieTxErrors,     &netdev::kPcieOverflows,        &netdev::kPcieReadStalled,
    &netdev::kPcieWriteStalled, &netdev::kPcieReadStalls,    &netdev::kPcieWriteStalls,  &netdev::kVportRxBytes,         &netdev::kVportTxBytes,
    &netdev::kVportRxPackets,  &netdev::kVportTxPackets,
};

}  // namespace

std::string NetdevMatch::label() const { return meaning->label == "#" ? std::to_string(number) : std::string(meaning->label); }

std::span<const NetdevMeaning> netdev_table(std::string_view driver) {
  driver = driver.substr(0, driver.find('['));  // mlx5_core[ib_ipoib]: the same statistics (mlx5 ipoib/ethtool.c mlx5i_get_drvinfo)
  const auto found = std::ranges::find(netdev_tables(), driver, &NetdevTable::driver);
  return found == netdev_tables().end() ? std::span<const NetdevMeaning>() : found->rows;
}

std::span<const NetdevTable> netdev_tables() {
  static const std::array<NetdevTable, 4> tables{{{"bnxt_en", netdev::kBnxt}, {"ena", netdev::kEna}, {"ice", netdev::kIce}, {"mlx5_core", netdev::kMlx5}}};
  return tables;
}

std::optional<NetdevMatch> match_statistic(std::span<const NetdevMeaning> table, std::string_view name) {
  constexpr std::string_view kDigits = "0123456789";
  const auto digits = std::min(name.find_first_of(kDigits), name.size());
  unsigned number = 0;
  const auto [end, error] = std::from_chars(name.data() + digits, name.data() + name.size(), number);
  const std::string_view before = name.substr(0, digits), after = name.substr(static_cast<std::size_t>(end - name.data()));
  const bool plain = error == std::errc{} && number <= kMostNumber && name.size() - before.size() - after.size() == std::to_string(number).size();  // no 03
  for (const NetdevMeaning& row : table) {
    const auto mark = row.statistic.find('#');
    if (mark == std::string_view::npos) {
      if (row.statistic == name) return NetdevMatch{&row, 0};
    } else if (plain && before == row.statistic.substr(0, mark) && after == row.statistic.substr(mark + 1)) {
      return NetdevMatch{&row, number};
    }
  }
  return std::nullopt;
}

const MetricDef& pfc_frames_family(bool sent) { return sent ? netdev::kTxPfcFrames : netdev::kRxPfcFrames; }

MetricList netdev_metrics() { return kFamilies; }

}  // namespace qpscope
