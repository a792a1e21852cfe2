// SPDX-License-Identifier: Apache-2.0
// ionic, in kernels after 6.12: names, widths and offsets come from the firmware (ionic_init_hw_stats), and may change with it; 64 bits are assumed.
#include "collectors/vocabulary/families.h"
#include "collectors/vocabulary/tables.h"

namespace qpscope {
namespace {

using enum Unit;

// clang-format off: a table is read in columns
constexpr CounterRow kRows[] = {
    // A unicast and a multicast part make the total.
    {"rx_rdma_ucast_bytes",         {},                         bytes,   k64, &kRxBytes,              {},                                     "RDMA unicast bytes received.", {}, true},
    {"rx_rdma_ucast_pkts",          {},                         packets, k64, &kRxPackets,            {},                                     "RDMA unicast packets received.", {}, true},
    {"rx_rdma_mcast_bytes",         {},                         bytes,   k64, &kRxBytes,              {},                                     "RDMA multicast bytes received.", {}, true},
    {"rx_rdma_mcast_pkts",          {},                         packets, k64, &kRxPackets,            {},                                     "RDMA multicast packets received.", {}, true},
    {"tx_rdma_ucast_bytes",         {},                         bytes,   k64, &kTxBytes,              {},                                     "RDMA unicast bytes sent.", {}, true},
    {"tx_rdma_ucast_pkts",          {},                         packets, k64, &kTxPackets,            {},                                     "RDMA unicast packets sent.", {}, true},
    {"tx_rdma_mcast_bytes",         {},                         bytes,   k64, &kTxBytes,              {},                                     "RDMA multicast bytes sent.", {}, true},
    {"tx_rdma_mcast_pkts",          {},                         packets, k64, &kTxPackets,            {},                                     "RDMA multicast packets sent.", {}, true},
    {"rx_rdma_cnp_pkts",            {},                         packets, k64, &kRxCnp,                {},                                     "CNPs received."},
    {"tx_rdma_cnp_pkts",            {},                         packets, k64, &kTxCnp,                {},                                     "CNPs sent."},
    {"rx_rdma_ecn_pkts",            {},                         packets, k64, &kRxEcn,                {},                                     "Packets received with congestion experienced set."},
    {"tx_rdma_ack_timeout",         {},                         events,  k64, &kRetransmits,          "ack_timeout",                          "Times the ACK timer of a requester ran out."},
    {"req_rx_pkt_seq_err",          {},                         events,  k64, &kRetransmits,          "sequence_nak",                         "Requester: NAKs for a sequence error received."},
    {"req_rx_impl_nak_seq_err",     {},                         events,  k64, &kRetransmits,          "implied_nak",                          "Requester: NAKs implied by a response."},
    {"tx_rdma_retx_pkts",           {},                         packets, k64, &kRetransmittedPackets, {},                                     "Packets sent again."},
    {"tx_rdma_retx_bytes",          {},                         bytes,   k64, nullptr,                {},                                     "Bytes sent again."},
    {"req_rx_rnr_retry_err",        {},                         events,  k64, &kRnr,                  {},                                     "Requester: RNR NAKs received."},
    {"resp_rx_outof_buf",           {"resp_rx_outouf_buf"},     events,  k64, &kNoWqe,                {},                                     "Responder: requests for which no receive was posted."},
    {"resp_tx_rnr_retry_err",       {},                         events,  k64, nullptr,                {},                                     "Responder: RNR NAKs sent, as resp_rx_outof_buf."},
    {"resp_rx_outouf_seq",          {"resp_rx_outof_seq"},      packets, k64, &kOutOfSequence,        {},                                     "Responder: packets received out of sequence."},
    {"resp_tx_pkt_seq_err",         {},                         events,  k64, nullptr,                {},                                     "Responder: NAKs for a sequence error sent."},
    {"resp_rx_dup_request",         {"resp_rx_dup_requests"},   packets, k64, &kDuplicates,           {},                                     "Responder: requests received again."},
    {"req_rx_dup_response",         {"req_rx_dup_responses"},   packets, k64, nullptr,                {},                                     "Requester: responses received again."},
    {"req_rx_cqe_flush",            {},                         events,  k64, &kFlushed,              "requester",                            "Requester: work requests flushed."},
    {"resp_rx_cqe_flush",           {},                         events,  k64, &kFlushed,              "responder",                            "Responder: work requests flushed."},
    // The two totals stay raw beside their parts.
    {"req_rx_cqe_err",              {},                         events,  k64, nullptr,                {},                                     "Requester: completions in error of every kind."},
    {"resp_rx_cqe_err",             {},                         events,  k64, nullptr,                {},                                     "Responder: completions in error of every kind."},
    {"req_rx_rmt_acc_err",          {},                         events,  k64, &kCompletionErrors,     "requester/remote_access",              "Requester: remote access errors."},
    {"req_rx_rmt_req_err",          {},                         events,  k64, &kCompletionErrors,     "requester/remote_invalid_request",     "Requester: remote invalid request errors."},
    {"req_rx_oper_err",             {},                         events,  k64, &kCompletionErrors,     "requester/remote_operation",           "Requester: remote operation errors."},
    {"req_tx_loc_acc_err",          {},                         events,  k64, &kCompletionErrors,     "requester/local_protection",           "Requester: local access errors."},
    {"req_tx_loc_oper_err",         {},                         events,  k64, &kCompletionErrors,     "requester/local_qp_operation",         "Requester: local queue pair operation errors."},
    {"req_tx_mem_mgmt_err",         {},                         events,  k64, &kCompletionErrors,     "requester/memory_management",          "Requester: memory management errors."},
    {"req_tx_retry_excd_err",       {},                         events,  k64, &kCompletionErrors,     "requester/transport_retries_exceeded", "Requester: queue pairs that gave up after retransmissions."},
    {"resp_rx_loc_len_err",         {},                         events,  k64, &kCompletionErrors,     "responder/local_length",               "Responder: local length errors."},
    {"resp_rx_loc_oper_err",        {},                         events,  k64, &kCompletionErrors,     "responder/local_qp_operation",         "Responder: local queue pair operation errors."},
    {"resp_tx_rmt_acc_err",         {},                         events,  k64, &kCompletionErrors,     "responder/remote_access",              "Responder: remote access errors."},
    {"resp_tx_rmt_inval_req_err",   {},                         events,  k64, &kCompletionErrors,     "responder/remote_invalid_request",     "Responder: remote invalid request errors."},
    {"resp_tx_rmt_oper_err",        {},                         events,  k64, &kCompletionErrors,     "responder/remote_operation",           "Responder: remote operation errors."},
    {"resp_rx_inval_request",       {"resp_rx_inval_requests"}, events,  k64, nullptr,                {},                                     "Responder: invalid requests received."},
    {"req_rx_inval_pkts",           {},                         packets, k64, nullptr,                {},                                     "Requester: invalid packets received."},
    {"req_tx_loc_sgl_inv_err",      {},                         events,  k64, nullptr,                {},                                     "Requester: scatter lists that are invalid."},
    {"resp_tx_loc_sgl_inv_err",     {},                         events,  k64, nullptr,                {},                                     "Responder: scatter lists that are invalid."},
    {"resp_rx_outof_atomic",        {"resp_rx_outouf_atomic"},  events,  k64, nullptr,                {},                                     "Responder: more ATOMIC requests than it has room for."},
    {"resp_rx_s0_table_err",        {},                         events,  k64, nullptr,                {},                                     "Responder: errors of its table."},
    {"resp_rx_ccl_cts_outouf_seq",  {},                         packets, k64, nullptr,                {},                                     "Responder: collective packets received out of sequence."},
    {"rx_rdma_mtu_discard_pkts",    {},                         packets, k64, nullptr,                {},                                     "Packets received that were longer than the MTU."},
    {"rx_rdma_ccl_cts_bytes",       {},                         bytes,   k64, nullptr,                {},                                     "Bytes of collectives received."},
    {"rx_rdma_ccl_cts_pkts",        {},                         packets, k64, nullptr,                {},                                     "Packets of collectives received."},
    {"tx_rdma_ccl_cts_ack_timeout", {},                         events,  k64, nullptr,                {},                                     "Times the ACK timer of a collective ran out."},
    {"tx_rdma_ccl_cts_bytes",       {},                         bytes,   k64, nullptr,                {},                                     "Bytes of collectives sent."},
    {"tx_rdma_ccl_cts_pkts",        {},                         packets, k64, nullptr,                {},                                     "Packets of collectives sent."},
    {"tx_rdma_ccl_cts_retx_bytes",  {},                         bytes,   k64, nullptr,                {},                                     "Bytes of collectives sent again."},
    {"tx_rdma_ccl_cts_retx_pkts",   {},                         packets, k64, nullptr,                {},                                     "Packets of collectives sent again."},
};
// clang-format on

}  // namespace

constinit const DriverTable kIonicTable{"ionic", "hw/ionic/ionic_hw_stats.c; AMD, device-metrics-exporter for the names", kRows};

}  // namespace qpscope
