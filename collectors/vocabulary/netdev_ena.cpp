// SPDX-License-Identifier: Apache-2.0
// ena: names from drivers/net/ethernet/amazon/ena/ena_ethtool.c ena_stats_eni_strings. EFA devices have no netdev: this is for soft-RoCE over
// one. There is no port of its own, and so neither PFC nor a physical layer.
#include "collectors/vocabulary/netdev_families.h"

namespace qpscope::netdev {
namespace {

constexpr NetdevMeaning kRows[] = {
    {"bw_in_allowance_exceeded", &kRxDiscards, NetdevScope::function, "bandwidth_allowance"},
};

}  // namespace

const std::span<const NetdevMeaning> kEna{kRows};

}  // namespace qpscope::netdev
