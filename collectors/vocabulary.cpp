// SPDX-License-Identifier: Apache-2.0
#include "collectors/vocabulary.h"

#include <algorithm>
#include <array>

namespace qpscope {
namespace {

constexpr LabelNames kPort{"device", "port"};
constexpr MetricType kCounter = MetricType::counter;

// clang-format off: a table is read in columns
constexpr MetricDef kTxBytes{"qpscope_port_tx_bytes_total", kCounter, "RDMA bytes sent; on mlx5 of this function's vport (sysfs counters/port_xmit_data x 4, or the driver's own bytes).", kPort};
constexpr MetricDef kRxBytes{"qpscope_port_rx_bytes_total", kCounter, "RDMA bytes received; on mlx5 of this function's vport (sysfs counters/port_rcv_data x 4, or the driver's own bytes).", kPort};
constexpr MetricDef kTxUtilization{"qpscope_port_tx_utilization_ratio", MetricType::histogram, "Rate of the RDMA bytes sent between two samples over the line rate, above 1 in +Inf (qpscope_port_tx_bytes_total, sysfs ports/N/rate).", kPort};
constexpr MetricDef kRxUtilization{"qpscope_port_rx_utilization_ratio", MetricType::histogram, "Rate of the RDMA bytes received between two samples over the line rate, above 1 in +Inf (qpscope_port_rx_bytes_total, sysfs ports/N/rate).", kPort};
constexpr MetricDef kTxPackets{"qpscope_port_tx_packets_total", kCounter, "RDMA packets sent (sysfs counters/port_xmit_packets, or the driver's own count).", kPort};
constexpr MetricDef kRxPackets{"qpscope_port_rx_packets_total", kCounter, "RDMA packets received (sysfs counters/port_rcv_packets, or the driver's own count).", kPort};
constexpr MetricDef kTxCnp{"qpscope_port_tx_cnp_packets_total", kCounter, "Congestion notification packets sent, as receiver of marked traffic (sysfs hw_counters/np_cnp_sent).", kPort};
constexpr MetricDef kRxCnp{"qpscope_port_rx_cnp_packets_total", kCounter, "Congestion notification packets received and acted on, as sender (sysfs hw_counters/rp_cnp_handled).", kPort};
constexpr MetricDef kRxCnpIgnored{"qpscope_port_rx_cnp_ignored_packets_total", kCounter, "Congestion notification packets received and ignored (sysfs hw_counters/rp_cnp_ignored).", kPort};
constexpr MetricDef kRxEcn{"qpscope_port_rx_ecn_marked_packets_total", kCounter, "RoCE packets received with congestion experienced set (sysfs hw_counters/np_ecn_marked_roce_packets).", kPort};
constexpr MetricDef kSlowRestarts{"qpscope_port_slow_restarts_total", kCounter, "Times a sender restarted slowly after loss (sysfs hw_counters/roce_slow_restart).", kPort};
constexpr MetricDef kRetransmits{"qpscope_port_retransmits_total", kCounter, "Events that made this sender go back and send again, by cause (sysfs hw_counters).", kPort.with("cause")};
constexpr MetricDef kAdaptive{"qpscope_port_adaptive_retransmits_total", kCounter, "Adaptive retransmissions (sysfs hw_counters/roce_adp_retrans).", kPort};
constexpr MetricDef kRnr{"qpscope_port_rx_rnr_naks_total", kCounter, "Receiver-not-ready NAKs received: the peer's application had posted no receive (sysfs hw_counters).", kPort};
constexpr MetricDef kNoWqe{"qpscope_port_rx_no_wqe_drops_total", kCounter, "Messages refused because the application here had posted no receive (sysfs hw_counters).", kPort};
constexpr MetricDef kOutOfSequence{"qpscope_port_rx_out_of_sequence_packets_total", kCounter, "Packets received out of sequence (sysfs hw_counters).", kPort};
constexpr MetricDef kDuplicates{"qpscope_port_rx_duplicate_requests_total", kCounter, "Requests received again: the peer retransmitted (sysfs hw_counters).", kPort};
constexpr MetricDef kIcrc{"qpscope_port_rx_icrc_error_packets_total", kCounter, "RoCE packets received with a wrong invariant CRC (sysfs hw_counters/rx_icrc_encapsulated).", kPort};
constexpr MetricDef kCompletionErrors{"qpscope_port_completion_errors_total", kCounter, "Work requests that completed in error, by role and kind (sysfs hw_counters).", kPort.with("role", "kind")};
constexpr MetricDef kFlushed{"qpscope_port_flushed_wqes_total", kCounter, "Work requests flushed at teardown, which is no fault (sysfs hw_counters).", kPort.with("role")};

constexpr std::array<const MetricDef*, 20> kFamilies{
    &kTxBytes, &kRxBytes, &kTxPackets, &kRxPackets, &kTxCnp, &kRxCnp, &kRxCnpIgnored, &kRxEcn, &kSlowRestarts, &kRetransmits, &kAdaptive, &kRnr,
    &kNoWqe, &kOutOfSequence, &kDuplicates, &kIcrc, &kCompletionErrors, &kFlushed, &kTxUtilization, &kRxUtilization};

constexpr std::string_view kMlx5 = "mlx5_core", kRxe = "rdma_rxe";

constexpr CounterMeaning kHwCounters[] = {
    // mlx5: kernel drivers/infiniband/hw/mlx5/counters.c for the names; the vendor's counter document for the meanings.
    // req_cqe_error and resp_cqe_error count errors of every kind: beside their parts they would be counted twice, so they stay raw.
    {kMlx5, "duplicate_request",              &kDuplicates},
    {kMlx5, "implied_nak_seq_err",            &kRetransmits, "implied_nak"},
    {kMlx5, "local_ack_timeout_err",          &kRetransmits, "ack_timeout"},
    {kMlx5, "np_cnp_sent",                    &kTxCnp},
    {kMlx5, "np_ecn_marked_roce_packets",     &kRxEcn},
    {kMlx5, "out_of_buffer",                  &kNoWqe},
    {kMlx5, "out_of_sequence",                &kOutOfSequence},
    {kMlx5, "packet_seq_err",                 &kRetransmits, "sequence_nak"},
    {kMlx5, "req_cqe_flush_error",            &kFlushed, "requester"},
    {kMlx5, "req_remote_access_errors",       &kCompletionErrors, "requester/remote_access"},
    {kMlx5, "req_remote_invalid_request",     &kCompletionErrors, "requester/remote_invalid_request"},
    {kMlx5, "req_rnr_retries_exceeded",       &kCompletionErrors, "requester/rnr_retries_exceeded"},
    {kMlx5, "req_transport_retries_exceeded", &kCompletionErrors, "requester/transport_retries_exceeded"},
    {kMlx5, "resp_cqe_flush_error",           &kFlushed, "responder"},
    {kMlx5, "resp_local_length_error",        &kCompletionErrors, "responder/local_length"},
    {kMlx5, "resp_remote_access_errors",      &kCompletionErrors, "responder/remote_access"},
    {kMlx5, "rnr_nak_retry_err",              &kRnr},
    {kMlx5, "roce_adp_retrans",               &kAdaptive},
    {kMlx5, "roce_slow_restart",              &kSlowRestarts},
    {kMlx5, "rp_cnp_handled",                 &kRxCnp},
    {kMlx5, "rp_cnp_ignored",                 &kRxCnpIgnored},
    {kMlx5, "rx_icrc_encapsulated",           &kIcrc},
    // soft-RoCE: drivers/infiniband/sw/rxe/rxe_{comp,resp}.c. completer_retry_err counts every go-back, whatever the cause, and so
    // includes rcvd_seq_err; the two are never added, and the former has no cause of its own: it stays a raw counter.
    {kRxe, "duplicate_request",      &kDuplicates},
    {kRxe, "out_of_seq_request",     &kOutOfSequence},
    {kRxe, "rcvd_pkts",              &kRxPackets},
    {kRxe, "rcvd_bytes",             &kRxBytes},
    {kRxe, "rcvd_rnr_err",           &kRnr},
    {kRxe, "rcvd_seq_err",           &kRetransmits, "sequence_nak"},
    {kRxe, "retry_exceeded_err",     &kCompletionErrors, "requester/transport_retries_exceeded"},
    {kRxe, "retry_rnr_exceeded_err", &kCompletionErrors, "requester/rnr_retries_exceeded"},
    {kRxe, "send_rnr_err",           &kNoWqe},
    {kRxe, "sent_pkts",              &kTxPackets},
    {kRxe, "sent_bytes",             &kTxBytes},
};

constexpr CounterMeaning kPortCounters[] = {
    {"", "port_rcv_data",     &kRxBytes, {}, 4},  // 4-byte words on every link width (Documentation/ABI/stable/sysfs-class-infiniband)
    {"", "port_rcv_packets",  &kRxPackets},
    {"", "port_xmit_data",    &kTxBytes, {}, 4},
    {"", "port_xmit_packets", &kTxPackets},
};
// clang-format on

}  // namespace

const CounterMeaning* hw_counter_meaning(std::string_view driver, std::string_view counter) {
  const auto* found = std::ranges::find_if(kHwCounters, [&](const CounterMeaning& row) { return row.driver == driver && row.counter == counter; });
  return found == std::end(kHwCounters) ? nullptr : found;
}

const CounterMeaning* port_counter_meaning(std::string_view counter) {
  const auto* found = std::ranges::find(kPortCounters, counter, &CounterMeaning::counter);
  return found == std::end(kPortCounters) ? nullptr : found;
}

const CounterMeaning* counter_meaning(std::string_view driver, const PortCounter& counter) {
  return counter.source == "hw_counters" ? hw_counter_meaning(driver, counter.name) : port_counter_meaning(counter.name);
}

MetricList vocabulary_metrics() { return kFamilies; }

const MetricDef* utilization_family(const CounterMeaning& meaning) {
  if (meaning.family == &kTxBytes) return &kTxUtilization;
  return meaning.family == &kRxBytes ? &kRxUtilization : nullptr;
}

void append_labels(const CounterMeaning& meaning, std::vector<std::string>& labels) {
  for (std::string_view rest = meaning.label; !rest.empty();) {
    const auto slash = rest.find('/');
    labels.emplace_back(rest.substr(0, slash));
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  }
}

Sample canonical_sample(const CounterMeaning& meaning, const std::string& device, const std::string& port, double count) {
  std::vector<std::string> labels{device, port};
  append_labels(meaning, labels);
  return sample(*meaning.family, std::move(labels), count * meaning.unit);
}

}  // namespace qpscope
