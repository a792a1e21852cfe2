// SPDX-License-Identifier: Apache-2.0
// bnxt_en: names from drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c bnxt_port_stats_arr and bnxt_port_stats_ext_arr, which a physical
// function lists. rx_pfc_frames and tx_pfc_frames are the sums of their priorities and left out.
#include "collectors/vocabulary/netdev_families.h"

namespace qpscope::netdev {
namespace {

constexpr NetdevScope kPhysical = NetdevScope::physical_port;

// clang-format off: a table is read in columns
constexpr NetdevMeaning kRows[] = {
    {"rx_pfc_ena_frames_pri#",      &kRxPfcFrames,      kPhysical, "#", 1, true},
    {"tx_pfc_ena_frames_pri#",      &kTxPfcFrames,      kPhysical, "#", 1, true},
    {"pfc_pri#_rx_duration_us",     &kRxPfcPause,       kPhysical, "#", kMicroseconds, true},
    {"pfc_pri#_tx_duration_us",     &kTxPfcPause,       kPhysical, "#", kMicroseconds, true},
    {"pfc_pri#_rx_transitions",     &kRxPfcTransitions, kPhysical, "#", 1, true},
    {"rx_pause_frames",             &kRxPauseFrames},
    {"tx_pause_frames",             &kTxPauseFrames},
    {"rx_stat_discard",             &kRxDiscards,       kPhysical, "port"},
    {"rx_fcs_err_frames",           &kPhyCrcErrors},
    {"rx_pcs_symbol_err",           &kPhyPcsSymbolErrors},
    {"rx_fec_corrected_blocks",     &kPhyCorrectedBlocks},
    {"rx_fec_uncorrectable_blocks", &kPhyUncorrectedBlocks},
    {"link_down_events",            &kPhyLinkDowns},
    {"rx_ovrsz_frames",             &kPhyOversize},
    {"tx_stat_discard",             &kPhyTxDiscards},
    {"tx_stat_error",               &kPhyTxErrors},
};
// clang-format on

}  // namespace

const std::span<const NetdevMeaning> kBnxt{kRows};

}  // namespace qpscope::netdev
