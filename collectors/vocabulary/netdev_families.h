// SPDX-License-Identifier: Apache-2.0
// What the tables of netdev statistics point to.
#pragma once

#include "collectors/vocabulary/netdev_statistics.h"

namespace qpscope::netdev {

extern const MetricDef kRxPfcFrames, kTxPfcFrames, kRxPfcPause, kTxPfcPause, kRxPfcTransitions;                  // by priority
extern const MetricDef kRxPauseFrames, kTxPauseFrames, kRxPauseSeconds, kTxPauseSeconds, kPauseStorms;           // 802.3x
extern const MetricDef kRxDiscards, kRxPriorityDiscards, kRxHostMarked;
extern const MetricDef kPhySymbolErrors, kPhyPcsSymbolErrors, kPhyCorrectedBits, kPhyLaneCorrectedBits, kPhyCorrectedBlocks,
    kPhyUncorrectedBlocks, kPhyCrcErrors, kPhyLinkDowns, kPhyOversize, kPhyTxDiscards, kPhyTxErrors, kPhyBufferThreshold, kPhyRecoveries;
extern const MetricDef kPcieRxErrors, kPcieTxErrors, kPcieOverflows, kPcieReadStalled, kPcieWriteStalled, kPcieReadStalls, kPcieWriteStalls;
extern const MetricDef kVportRxBytes, kVportTxBytes, kVportRxPackets, kVportTxPackets;

constexpr double kMicroseconds = 1e6, kPercent = 100;  // that make one

extern const std::span<const NetdevMeaning> kMlx5, kBnxt, kIce, kEna;

}  // namespace qpscope::netdev
