// SPDX-License-Identifier: Apache-2.0
#include "collectors/vocabulary/families.h"

#include <algorithm>
#include <array>

namespace qpscope {
namespace {

constexpr LabelNames kPort{"device", "port"};
constexpr MetricType kCounter = MetricType::counter;

}  // namespace

// clang-format off: a table is read in columns
constinit const MetricDef kTxBytes{"qpscope_port_tx_bytes_total", kCounter, "RDMA bytes sent; on mlx5 of this function's vport (sysfs counters/port_xmit_data x 4, or the driver's own bytes).", kPort};
constinit const MetricDef kRxBytes{"qpscope_port_rx_bytes_total", kCounter, "RDMA bytes received; on mlx5 of this function's vport (sysfs counters/port_rcv_data x 4, or the driver's own bytes).", kPort};
constinit const MetricDef kTxUtilization{"qpscope_port_tx_utilization_ratio", MetricType::histogram, "Rate of the RDMA bytes sent between two samples over the line rate, above 1 in +Inf (qpscope_port_tx_bytes_total, sysfs ports/N/rate).", kPort};
constinit const MetricDef kRxUtilization{"qpscope_port_rx_utilization_ratio", MetricType::histogram, "Rate of the RDMA bytes received between two samples over the line rate, above 1 in +Inf (qpscope_port_rx_bytes_total, sysfs ports/N/rate).", kPort};
constinit const MetricDef kTxPackets{"qpscope_port_tx_packets_total", kCounter, "RDMA packets sent (sysfs counters/port_xmit_packets, or the driver's own count).", kPort};
constinit const MetricDef kRxPackets{"qpscope_port_rx_packets_total", kCounter, "RDMA packets received (sysfs counters/port_rcv_packets, or the driver's own count).", kPort};
constinit const MetricDef kTxCnp{"qpscope_port_tx_cnp_packets_total", kCounter, "Congestion notification packets sent, as receiver of marked traffic (sysfs hw_counters/np_cnp_sent).", kPort};
constinit const MetricDef kRxCnp{"qpscope_port_rx_cnp_packets_total", kCounter, "Congestion notification packets received and acted on, as sender (sysfs hw_counters/rp_cnp_handled).", kPort};
constinit const MetricDef kRxCnpIgnored{"qpscope_port_rx_cnp_ignored_packets_total", kCounter, "Congestion notification packets received and ignored (sysfs hw_counters/rp_cnp_ignored).", kPort};
constinit const MetricDef kRxEcn{"qpscope_port_rx_ecn_marked_packets_total", kCounter, "RoCE packets received with congestion experienced set (sysfs hw_counters/np_ecn_marked_roce_packets).", kPort};
constinit const MetricDef kSlowRestarts{"qpscope_port_slow_restarts_total", kCounter, "Times a sender restarted slowly after loss (sysfs hw_counters/roce_slow_restart).", kPort};
constinit const MetricDef kRetransmits{"qpscope_port_retransmits_total", kCounter, "Events that made this sender go back and send again, by cause (sysfs hw_counters).", kPort.with("cause")};
constinit const MetricDef kRetransmittedPackets{"qpscope_port_retransmitted_packets_total", kCounter, "Packets sent again, where the NIC counts packets; on iWARP the TCP segments of every offloaded connection (sysfs hw_counters/retrans_pkts).", kPort};
constinit const MetricDef kAdaptive{"qpscope_port_adaptive_retransmits_total", kCounter, "Adaptive retransmissions (sysfs hw_counters/roce_adp_retrans).", kPort};
constinit const MetricDef kRnr{"qpscope_port_rx_rnr_naks_total", kCounter, "Receiver-not-ready NAKs received: the peer's application had posted no receive (sysfs hw_counters).", kPort};
constinit const MetricDef kNoWqe{"qpscope_port_rx_no_wqe_drops_total", kCounter, "Messages refused because the application here had posted no receive (sysfs hw_counters).", kPort};
constinit const MetricDef kOutOfSequence{"qpscope_port_rx_out_of_sequence_packets_total", kCounter, "Packets received out of sequence (sysfs hw_counters).", kPort};
constinit const MetricDef kDuplicates{"qpscope_port_rx_duplicate_requests_total", kCounter, "Requests received again: the peer retransmitted (sysfs hw_counters).", kPort};
constinit const MetricDef kIcrc{"qpscope_port_rx_icrc_error_packets_total", kCounter, "Packets received with a wrong invariant CRC (sysfs hw_counters/rx_icrc_encapsulated).", kPort};
constinit const MetricDef kCompletionErrors{"qpscope_port_completion_errors_total", kCounter, "Work requests that completed in error, by role and kind (sysfs hw_counters).", kPort.with("role", "kind")};
constinit const MetricDef kFlushed{"qpscope_port_flushed_wqes_total", kCounter, "Work requests flushed at teardown, which is no fault (sysfs hw_counters).", kPort.with("role")};
constinit const MetricDef kTxLimitDrops{"qpscope_port_tx_limit_drops_total", kCounter, "Packets not sent because a cloud instance had used up its share, by limit: no loss in the network (sysfs hw_counters/tx_bps_limit_drop_cnt).", kPort.with("limit")};
constinit const MetricDef kRxLimitDrops{"qpscope_port_rx_limit_drops_total", kCounter, "Packets dropped on receipt because a cloud instance had used up its share, by limit: no loss in the network (sysfs hw_counters/rx_bps_limit_drop_cnt).", kPort.with("limit")};
// clang-format on

MetricList vocabulary_metrics() {
  static constexpr std::array<const MetricDef*, 23> families{&kTxBytes,
                                                             &kRxBytes,
                                                             &kTxPackets,
                                                             &kRxPackets,
                                                             &kTxCnp,
                                                             &kRxCnp,
                                                             &kRxCnpIgnored,
                                                             &kRxEcn,
                                                             &kSlowRestarts,
                                                             &kRetransmits,
                                                             &kRetransmittedPackets,
                                                             &kAdaptive,
                                                             &kRnr,
                                                             &kNoWqe,
                                                             &kOutOfSequence,
                                                             &kDuplicates,
                                                             &kIcrc,
                                                             &kCompletionErrors,
                                                             &kFlushed,
                                                             &kTxLimitDrops,
                                                             &kRxLimitDrops,
                                                             &kTxUtilization,
                                                             &kRxUtilization};
  return families;
}

bool is_trouble(const MetricDef& family) {
  constexpr const MetricDef* kTraffic[] = {&kTxBytes, &kRxBytes, &kTxPackets, &kRxPackets, &kFlushed};
  return std::ranges::find(kTraffic, &family) == std::end(kTraffic);
}

const MetricDef* utilization_family(const MetricDef& family) {
  if (&family == &kTxBytes) return &kTxUtilization;
  return &family == &kRxBytes ? &kRxUtilization : nullptr;
}

}  // namespace qpscope
