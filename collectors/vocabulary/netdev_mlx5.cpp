// SPDX-License-Identifier: Apache-2.0
// mlx5_core: names from drivers/net/ethernet/mellanox/mlx5/core/en_stats.c, meanings from
// Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst.
//
// Some have 32 bits in the card (link_down_events_phy, the PCIe ones but buffer_overflow) and are treated as wider: none of them comes to 2^32.
// rx_pause_ctrl_phy and tx_pause_ctrl_phy are left out: they count PFC frames as well as 802.3x ones.
#include "collectors/vocabulary/netdev_families.h"

namespace qpscope::netdev {
namespace {

constexpr NetdevScope kPhysical = NetdevScope::physical_port, kFunction = NetdevScope::function, kPci = NetdevScope::pci_function;

// clang-format off: a table is read in columns
constexpr NetdevMeaning kRows[] = {
    // Listed while PFC is on for the priority. Durations are microseconds.
    {"rx_prio#_pause",                 &kRxPfcFrames,        kPhysical, "#"},
    {"tx_prio#_pause",                 &kTxPfcFrames,        kPhysical, "#"},
    {"rx_prio#_pause_duration",        &kRxPfcPause,         kPhysical, "#", kMicroseconds},
    {"tx_prio#_pause_duration",        &kTxPfcPause,         kPhysical, "#", kMicroseconds},
    {"rx_prio#_pause_transition",      &kRxPfcTransitions,   kPhysical, "#"},
    // Listed while 802.3x is on.
    {"rx_global_pause",                &kRxPauseFrames},
    {"tx_global_pause",                &kTxPauseFrames},
    {"rx_global_pause_duration",       &kRxPauseSeconds,     kPhysical, {}, kMicroseconds},
    {"tx_global_pause_duration",       &kTxPauseSeconds,     kPhysical, {}, kMicroseconds},
    {"tx_pause_storm_warning_events",  &kPauseStorms,        kPhysical, "warning"},
    {"tx_pause_storm_error_events",    &kPauseStorms,        kPhysical, "error"},
    {"rx_discards_phy",                &kRxDiscards,         kPhysical, "buffer"},
    {"rx_prio#_buf_discard",           &kRxDiscards,         kPhysical, "host_buffer"},
    {"rx_prio#_cong_discard",          &kRxDiscards,         kPhysical, "congestion"},
    {"rx_prio#_discards",              &kRxPriorityDiscards, kPhysical, "#", 1, true},
    {"rx_prio#_marked",                &kRxHostMarked},
    {"rx_symbol_err_phy",              &kPhySymbolErrors},
    {"rx_pcs_symbol_err_phy",          &kPhyPcsSymbolErrors},
    {"rx_corrected_bits_phy",          &kPhyCorrectedBits},
    {"rx_err_lane_#_phy",              &kPhyLaneCorrectedBits, kPhysical, "#"},  // phy_corrected_bits_laneN
    {"rx_crc_errors_phy",              &kPhyCrcErrors},
    {"link_down_events_phy",           &kPhyLinkDowns},
    {"total_success_recovery_phy",     &kPhyRecoveries},
    {"rx_oversize_pkts_phy",           &kPhyOversize},
    {"tx_discards_phy",                &kPhyTxDiscards},
    {"tx_errors_phy",                  &kPhyTxErrors},
    {"rx_buffer_passed_thres_phy",     &kPhyBufferThreshold},
    {"rx_pci_signal_integrity",        &kPcieRxErrors,       kPci},
    {"tx_pci_signal_integrity",        &kPcieTxErrors,       kPci},
    {"outbound_pci_buffer_overflow",   &kPcieOverflows,      kPci},
    {"outbound_pci_stalled_rd",        &kPcieReadStalled,    kPci, {}, kPercent},
    {"outbound_pci_stalled_wr",        &kPcieWriteStalled,   kPci, {}, kPercent},
    {"outbound_pci_stalled_rd_events", &kPcieReadStalls,     kPci},
    {"outbound_pci_stalled_wr_events", &kPcieWriteStalls,    kPci},
    {"rx_vport_rdma_unicast_bytes",    &kVportRxBytes,       kFunction},
    {"rx_vport_rdma_multicast_bytes",  &kVportRxBytes,       kFunction},
    {"tx_vport_rdma_unicast_bytes",    &kVportTxBytes,       kFunction},
    {"tx_vport_rdma_multicast_bytes",  &kVportTxBytes,       kFunction},
    {"rx_vport_rdma_unicast_packets",  &kVportRxPackets,     kFunction},
    {"rx_vport_rdma_multicast_packets", &kVportRxPackets,    kFunction},
    {"tx_vport_rdma_unicast_packets",  &kVportTxPackets,     kFunction},
    {"tx_vport_rdma_multicast_packets", &kVportTxPackets,    kFunction},
};
// clang-format on

}  // namespace

const std::span<const NetdevMeaning> kMlx5{kRows};

}  // namespace qpscope::netdev
