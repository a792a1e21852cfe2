// SPDX-License-Identifier: Apache-2.0
// mlx5: PF, VF, SF, bond. Q counters have 32 bits in the firmware, and are shown as sums over the port's counter sets
// (hw/mlx5/counters.c, core/counters.c); congestion counters, optional ones and rx_icrc_encapsulated have 64.
#include "collectors/vocabulary/families.h"
#include "collectors/vocabulary/tables.h"

namespace qpscope {
namespace {

using enum Unit;

// clang-format off: a table is read in columns
constexpr CounterRow kRows[] = {
    {"duplicate_request",              {}, packets,  k32, &kDuplicates,       {},                                     "Requests received again: the peer retransmitted."},
    {"implied_nak_seq_err",            {}, events,   k32, &kRetransmits,      "implied_nak",                          "Responses with a PSN beyond the one expected: a NAK implied for READ and ATOMIC."},
    {"local_ack_timeout_err",          {}, events,   k32, &kRetransmits,      "ack_timeout",                          "Times the ACK timer of a requester ran out."},
    {"np_cnp_sent",                    {}, packets,  k64, &kTxCnp,            {},                                     "CNPs sent as the receiver of marked traffic."},
    {"np_ecn_marked_roce_packets",     {}, packets,  k64, &kRxEcn,            {},                                     "RoCEv2 packets received with congestion experienced set."},
    {"out_of_buffer",                  {}, events,   k32, &kNoWqe,            {},                                     "Drops because a queue pair had no receive posted."},
    {"out_of_sequence",                {}, packets,  k32, &kOutOfSequence,    {},                                     "Packets received out of sequence."},
    {"packet_seq_err",                 {}, events,   k32, &kRetransmits,      "sequence_nak",                         "NAKs for a sequence error received: the peer has missed packets."},
    // The two totals of errors of every kind stay raw: beside their parts, which have families, they would be counted twice.
    {"req_cqe_error",                  {}, events,   k32, nullptr,            {},                                     "Requester: completions in error of every kind, parts and flushes included."},
    {"req_cqe_flush_error",            {}, events,   k32, &kFlushed,          "requester",                            "Requester: work requests flushed."},
    {"req_remote_access_errors",       {}, events,   k32, &kCompletionErrors, "requester/remote_access",              "Requester: NAKs for a remote access error received."},
    {"req_remote_invalid_request",     {}, events,   k32, &kCompletionErrors, "requester/remote_invalid_request",     "Requester: NAKs for an invalid request received."},
    {"req_rnr_retries_exceeded",       {}, events,   k32, &kCompletionErrors, "requester/rnr_retries_exceeded",       "Requester: queue pairs that gave up after RNR NAKs."},
    {"req_transport_retries_exceeded", {}, events,   k32, &kCompletionErrors, "requester/transport_retries_exceeded", "Requester: queue pairs that gave up after retransmissions."},
    {"resp_cqe_error",                 {}, events,   k32, nullptr,            {},                                     "Responder: completions in error of every kind, parts and flushes included."},
    {"resp_cqe_flush_error",           {}, events,   k32, &kFlushed,          "responder",                            "Responder: work requests flushed."},
    {"resp_local_length_error",        {}, events,   k32, &kCompletionErrors, "responder/local_length",               "Responder: messages longer than the receive posted."},
    {"resp_remote_access_errors",      {}, events,   k32, &kCompletionErrors, "responder/remote_access",              "Responder: requests refused for a remote access error."},
    {"rnr_nak_retry_err",              {}, events,   k32, &kRnr,              {},                                     "RNR NAKs received."},
    {"roce_adp_retrans",               {}, events,   k32, &kAdaptive,         {},                                     "Adaptive retransmissions."},
    {"roce_adp_retrans_to",            {}, events,   k32, nullptr,            {},                                     "Adaptive retransmissions after a timeout, part of roce_adp_retrans."},
    {"roce_slow_restart",              {}, events,   k32, &kSlowRestarts,     {},                                     "Slow restarts."},
    {"roce_slow_restart_cnps",         {}, packets,  k32, nullptr,            {},                                     "CNPs made by slow restart."},
    {"roce_slow_restart_trans",        {}, events,   k32, nullptr,            {},                                     "Times a queue pair changed to slow restart."},
    {"rp_cnp_handled",                 {}, packets,  k64, &kRxCnp,            {},                                     "CNPs received and acted on as sender."},
    {"rp_cnp_ignored",                 {}, packets,  k64, &kRxCnpIgnored,     {},                                     "CNPs received and ignored."},
    {"rx_atomic_requests",             {}, requests, k32, nullptr,            {},                                     "ATOMIC requests received."},
    {"rx_dct_connect",                 {}, requests, k32, nullptr,            {},                                     "DCT connect requests received."},
    {"rx_icrc_encapsulated",           {}, packets,  k64, &kIcrc,             {},                                     "RoCE packets received with a wrong invariant CRC."},
    {"rx_read_requests",               {}, requests, k32, nullptr,            {},                                     "READ requests received."},
    {"rx_write_requests",              {}, requests, k32, nullptr,            {},                                     "WRITE requests received."},
    // Optional counters: flow rules count again what the counters above, or counters/, count already. They stay raw.
    {"cc_rx_ce_pkts",                  {}, packets,  k64, nullptr,            {},                                     "Packets received with congestion experienced set, as np_ecn_marked_roce_packets.", "hw/mlx5/counters.c; optional, off until rdma statistic switches it on"},
    {"cc_rx_cnp_pkts",                 {}, packets,  k64, nullptr,            {},                                     "CNPs received, as rp_cnp_handled and rp_cnp_ignored.", "hw/mlx5/counters.c; optional, off until rdma statistic switches it on"},
    {"cc_tx_cnp_pkts",                 {}, packets,  k64, nullptr,            {},                                     "CNPs sent, as np_cnp_sent.", "hw/mlx5/counters.c; optional, off until rdma statistic switches it on"},
    {"rdma_rx_bytes",                  {}, bytes,    k64, nullptr,            {},                                     "RDMA bytes received, as counters/port_rcv_data.", "hw/mlx5/counters.c; optional, off until rdma statistic switches it on"},
    {"rdma_rx_packets",                {}, packets,  k64, nullptr,            {},                                     "RDMA packets received, as counters/port_rcv_packets.", "hw/mlx5/counters.c; optional, off until rdma statistic switches it on"},
    {"rdma_tx_bytes",                  {}, bytes,    k64, nullptr,            {},                                     "RDMA bytes sent, as counters/port_xmit_data.", "hw/mlx5/counters.c; optional, off until rdma statistic switches it on"},
    {"rdma_tx_packets",                {}, packets,  k64, nullptr,            {},                                     "RDMA packets sent, as counters/port_xmit_packets.", "hw/mlx5/counters.c; optional, off until rdma statistic switches it on"},
    // What a later kernel shows of a representor: Q counters, and no others (mlx5_ib_query_q_counters_vport).
    {"vport_*",                        {}, events,   k32, nullptr,            {},                                     "A Q counter of the function behind this representor."},
};
// clang-format on

}  // namespace

constinit const DriverTable kMlx5Table{"mlx5", "hw/mlx5/counters.c; NVIDIA, Understanding mlx5 Linux Counters", kRows, "vport_"};

}  // namespace qpscope
