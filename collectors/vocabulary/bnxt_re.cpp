// SPDX-License-Identifier: Apache-2.0
// bnxt_re: 64 bits. Kernels after 6.12 give many of them the names that mlx5 has for the same thing, and have counters/ too, made of the
// same bytes and packets (bnxt_re_assign_pma_port_ext_counters).
#include "collectors/vocabulary/families.h"
#include "collectors/vocabulary/tables.h"

namespace qpscope {
namespace {

using enum Unit;

// clang-format off: a table is read in columns
constexpr CounterRow kRows[] = {
    // Levels, and their highest ever: gone from later kernels.
    {"active_*",                  {},                             objects,  kGauge, nullptr,            {},                                     "Objects in use."},
    {"watermark_*",               {},                             objects,  kGauge, nullptr,            {},                                     "Most objects ever in use."},
    {"db_fifo_register",          {},                             unknown,  kGauge, nullptr,            {},                                     "A register of the doorbell queue."},
    // rx_roce_only_*, tx_roce_only_* and rx_roce_good_* count the same traffic again, a little later in the card. They stay raw.
    {"rx_bytes",                  {},                             bytes,    k64,    &kRxBytes,          {},                                     "RoCE bytes received."},
    {"rx_pkts",                   {},                             packets,  k64,    &kRxPackets,        {},                                     "RoCE packets received."},
    {"tx_bytes",                  {},                             bytes,    k64,    &kTxBytes,          {},                                     "RoCE bytes sent."},
    {"tx_pkts",                   {},                             packets,  k64,    &kTxPackets,        {},                                     "RoCE packets sent."},
    {"rx_roce_good_bytes",        {},                             bytes,    k64,    nullptr,            {},                                     "RoCE bytes received without an error."},
    {"rx_roce_good_pkts",         {},                             packets,  k64,    nullptr,            {},                                     "RoCE packets received without an error."},
    {"rx_roce_only_bytes",        {},                             bytes,    k64,    nullptr,            {},                                     "RoCE bytes received, as rx_bytes."},
    {"rx_roce_only_pkts",         {},                             packets,  k64,    nullptr,            {},                                     "RoCE packets received, as rx_pkts."},
    {"tx_roce_only_bytes",        {},                             bytes,    k64,    nullptr,            {},                                     "RoCE bytes sent, as tx_bytes."},
    {"tx_roce_only_pkts",         {},                             packets,  k64,    nullptr,            {},                                     "RoCE packets sent, as tx_pkts."},
    {"tx_cnp_pkts",               {"np_cnp_pkts"},                packets,  k64,    &kTxCnp,            {},                                     "CNPs sent."},
    {"rx_cnp_pkts",               {"rp_cnp_handled"},             packets,  k64,    &kRxCnp,            {},                                     "CNPs received."},
    {"rx_ecn_marked_pkts",        {"np_ecn_marked_roce_packets"}, packets,  k64,    &kRxEcn,            {},                                     "Packets received with congestion experienced set."},
    {"to_retransmits",            {"local_ack_timeout_err"},      events,   k64,    &kRetransmits,      "ack_timeout",                          "Retransmissions after a timeout."},
    {"seq_err_naks_rcvd",         {"packet_seq_err"},             events,   k64,    &kRetransmits,      "sequence_nak",                         "NAKs for a sequence error received."},
    {"missing_resp",              {"implied_nak_seq_err"},        events,   k64,    &kRetransmits,      "implied_nak",                          "Responses that were missing: a NAK implied."},
    {"rnr_naks_rcvd",             {"rnr_nak_retry_err"},          events,   k64,    &kRnr,              {},                                     "RNR NAKs received."},
    {"rx_out_of_buffer",          {"out_of_buffer"},              events,   k64,    &kNoWqe,            {},                                     "Drops because a queue pair had no receive posted."},
    {"oos_drop_count",            {"out_of_sequence"},            packets,  k64,    &kOutOfSequence,    {},                                     "Packets received out of sequence."},
    {"dup_req",                   {"duplicate_request"},          packets,  k64,    &kDuplicates,       {},                                     "Requests received again."},
    // req_cqe_error, resp_cqe_error and resp_remote_access_errors are sums that the driver makes of counters below: they stay raw.
    {"req_cqe_error",             {},                             events,   k64,    nullptr,            {},                                     "Requester: bad responses, local and remote errors together."},
    {"resp_cqe_error",            {},                             events,   k64,    nullptr,            {},                                     "Responder: res_cmp_err and res_cq_load_err together."},
    {"resp_remote_access_errors", {},                             events,   k64,    nullptr,            {},                                     "Responder: res_rx_no_perm and res_tx_no_perm together."},
    {"max_retry_exceeded",        {},                             events,   k64,    &kCompletionErrors, "requester/transport_retries_exceeded", "Requester: queue pairs that gave up after retransmissions."},
    {"bad_resp_err",              {},                             events,   k64,    &kCompletionErrors, "requester/bad_response",               "Requester: bad responses."},
    {"local_protection_err",      {},                             events,   k64,    &kCompletionErrors, "requester/local_protection",           "Requester: local protection errors."},
    {"local_qp_op_err",           {},                             events,   k64,    &kCompletionErrors, "requester/local_qp_operation",         "Requester: local queue pair operation errors."},
    {"mem_mgmt_op_err",           {},                             events,   k64,    &kCompletionErrors, "requester/memory_management",          "Requester: memory management errors."},
    {"remote_access_err",         {"req_remote_access_errors"},   events,   k64,    &kCompletionErrors, "requester/remote_access",              "Requester: remote access errors."},
    {"remote_invalid_req_err",    {"req_remote_invalid_request"}, events,   k64,    &kCompletionErrors, "requester/remote_invalid_request",     "Requester: remote invalid request errors."},
    {"remote_op_err",             {},                             events,   k64,    &kCompletionErrors, "requester/remote_operation",           "Requester: remote operation errors."},
    {"res_length_mismatch",       {"resp_local_length_error"},    events,   k64,    &kCompletionErrors, "responder/local_length",               "Responder: length errors."},
    {"res_rx_no_perm",            {},                             events,   k64,    &kCompletionErrors, "responder/remote_access",              "Responder: requests to write refused for want of permission.", {}, true},
    {"res_tx_no_perm",            {},                             events,   k64,    &kCompletionErrors, "responder/remote_access",              "Responder: requests to read refused for want of permission.", {}, true},
    {"res_cmp_err",               {},                             events,   k64,    nullptr,            {},                                     "Responder: completions in error."},
    {"res_cq_load_err",           {},                             events,   k64,    nullptr,            {},                                     "Responder: completion queue contexts that could not be loaded."},
    {"res_exceed_max",            {},                             events,   k64,    nullptr,            {},                                     "Responder: messages longer than the most allowed."},
    {"res_exceeds_wqe",           {},                             events,   k64,    nullptr,            {},                                     "Responder: messages longer than the receive posted."},
    {"res_invalid_dup_rkey",      {},                             events,   k64,    nullptr,            {},                                     "Responder: requests received again with another rkey."},
    {"res_irrq_oflow",            {},                             events,   k64,    nullptr,            {},                                     "Responder: more READ and ATOMIC requests outstanding than agreed."},
    {"res_mem_err",               {},                             events,   k64,    nullptr,            {},                                     "Responder: memory errors."},
    {"res_opcode_err",            {},                             events,   k64,    nullptr,            {},                                     "Responder: opcodes out of order."},
    {"res_rem_inv_err",           {},                             events,   k64,    nullptr,            {},                                     "Responder: remote invalidations that failed."},
    {"res_rx_domain_err",         {},                             events,   k64,    nullptr,            {},                                     "Responder: protection domain errors on receipt."},
    {"res_rx_invalid_rkey",       {},                             events,   k64,    nullptr,            {},                                     "Responder: invalid rkeys on receipt."},
    {"res_rx_pci_err",            {},                             events,   k64,    nullptr,            {},                                     "Responder: PCI errors on receipt."},
    {"res_rx_range_err",          {},                             events,   k64,    nullptr,            {},                                     "Responder: addresses out of range on receipt."},
    {"res_srq_err",               {},                             events,   k64,    nullptr,            {},                                     "Responder: shared receive queue errors."},
    {"res_srq_load_err",          {},                             events,   k64,    nullptr,            {},                                     "Responder: shared receive queue contexts that could not be loaded."},
    {"res_tx_domain_err",         {},                             events,   k64,    nullptr,            {},                                     "Responder: protection domain errors when sending."},
    {"res_tx_invalid_rkey",       {},                             events,   k64,    nullptr,            {},                                     "Responder: invalid rkeys when sending."},
    {"res_tx_pci_err",            {},                             events,   k64,    nullptr,            {},                                     "Responder: PCI errors when sending."},
    {"res_tx_range_err",          {},                             events,   k64,    nullptr,            {},                                     "Responder: addresses out of range when sending."},
    {"res_unaligned_atomic",      {},                             events,   k64,    nullptr,            {},                                     "Responder: ATOMIC requests to unaligned addresses."},
    {"res_unsup_opcode",          {},                             events,   k64,    nullptr,            {},                                     "Responder: opcodes that are not supported."},
    {"res_wqe_format_err",        {},                             events,   k64,    nullptr,            {},                                     "Responder: malformed receives."},
    {"unrecoverable_err",         {},                             events,   k64,    nullptr,            {},                                     "Errors that could not be recovered from."},
    {"recoverable_errors",        {},                             events,   k64,    nullptr,            {},                                     "Errors that were recovered from."},
    {"rx_roce_discards",          {},                             packets,  k64,    nullptr,            {},                                     "Packets received and discarded."},
    {"rx_roce_errors",            {},                             packets,  k64,    nullptr,            {},                                     "Packets received with an error."},
    {"tx_roce_discards",          {},                             packets,  k64,    nullptr,            {},                                     "Packets discarded before they were sent."},
    {"tx_roce_errors",            {},                             packets,  k64,    nullptr,            {},                                     "Packets that could not be sent."},
    {"rx_atomic_req",             {"rx_atomic_requests"},         requests, k64,    nullptr,            {},                                     "ATOMIC requests received."},
    {"rx_read_req",               {"rx_read_requests"},           requests, k64,    nullptr,            {},                                     "READ requests received."},
    {"rx_read_resp",              {},                             packets,  k64,    nullptr,            {},                                     "READ responses received."},
    {"rx_send_req",               {},                             requests, k64,    nullptr,            {},                                     "SEND requests received."},
    {"rx_write_req",              {"rx_write_requests"},          requests, k64,    nullptr,            {},                                     "WRITE requests received."},
    {"tx_atomic_req",             {},                             requests, k64,    nullptr,            {},                                     "ATOMIC requests sent."},
    {"tx_read_req",               {},                             requests, k64,    nullptr,            {},                                     "READ requests sent."},
    {"tx_read_resp",              {},                             packets,  k64,    nullptr,            {},                                     "READ responses sent."},
    {"tx_send_req",               {},                             requests, k64,    nullptr,            {},                                     "SEND requests sent."},
    {"tx_write_req",              {},                             requests, k64,    nullptr,            {},                                     "WRITE requests sent."},
    {"pacing_alerts",             {},                             events,   k64,    nullptr,            {},                                     "Alerts of doorbell pacing."},
    {"pacing_complete",           {},                             events,   k64,    nullptr,            {},                                     "Times doorbell pacing ended."},
    {"pacing_reschedule",         {},                             events,   k64,    nullptr,            {},                                     "Times doorbell pacing was put off."},
    {"resize_cq_cnt",             {},                             events,   k64,    nullptr,            {},                                     "Completion queues resized."},
};
// clang-format on

}  // namespace

constinit const DriverTable kBnxtReTable{"bnxt_re", "hw/bnxt_re/hw_counters.c", kRows};

}  // namespace qpscope
