// SPDX-License-Identifier: Apache-2.0
// The canonical port families: what alerts and dashboards use on every NIC. Labels: device, port, then the family's own.
#pragma once

#include "core/metric.h"

namespace qpscope {

extern const MetricDef kTxBytes, kRxBytes, kTxPackets, kRxPackets;
extern const MetricDef kTxUtilization, kRxUtilization;
extern const MetricDef kTxCnp, kRxCnp, kRxCnpIgnored, kRxEcn, kSlowRestarts;
// cause: sequence_nak, implied_nak, ack_timeout.
extern const MetricDef kRetransmits, kRetransmittedPackets, kAdaptive;
extern const MetricDef kRnr, kNoWqe, kOutOfSequence, kDuplicates, kIcrc;
// role: requester, responder. kind: a status of struct ib_wc, spelled out (include/rdma/ib_verbs.h enum ib_wc_status).
extern const MetricDef kCompletionErrors, kFlushed;
// limit: bandwidth, packet_rate.
extern const MetricDef kTxLimitDrops, kRxLimitDrops;

MetricList vocabulary_metrics();

// Errors and retransmissions: not traffic, and not what every teardown brings.
bool is_trouble(const MetricDef& family);
// The histogram of the line's utilisation by what this family counts; null where it counts no bytes.
const MetricDef* utilization_family(const MetricDef& family);

}  // namespace qpscope
