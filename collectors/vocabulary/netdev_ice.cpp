// SPDX-License-Identifier: Apache-2.0
// ice (E810): names from drivers/net/ethernet/intel/ice/ice_ethtool.c ice_gstrings_pf_stats and ice_get_strings; the port's own end in ".nic".
// xoff frames stop a priority, xon frames start it again. All priorities of one traffic class count the same events: they are never added up.
#include "collectors/vocabulary/netdev_families.h"

namespace qpscope::netdev {
namespace {

constexpr NetdevScope kPhysical = NetdevScope::physical_port;

// clang-format off: a table is read in columns
constexpr NetdevMeaning kRows[] = {
    {"rx_priority_#_xoff.nic",    &kRxPfcFrames, kPhysical, "#", 1, true},
    {"tx_priority_#_xoff.nic",    &kTxPfcFrames, kPhysical, "#", 1, true},
    {"link_xoff_rx.nic",          &kRxPauseFrames},
    {"link_xoff_tx.nic",          &kTxPauseFrames},
    {"rx_dropped.nic",            &kRxDiscards,  kPhysical, "port"},
    {"rx_crc_errors.nic",         &kPhyCrcErrors},
    {"rx_oversize.nic",           &kPhyOversize},
    {"tx_dropped_link_down.nic",  &kPhyTxDiscards},
    {"tx_errors.nic",             &kPhyTxErrors},
};
// clang-format on

}  // namespace

const std::span<const NetdevMeaning> kIce{kRows};

}  // namespace qpscope::netdev
