// SPDX-License-Identifier: Apache-2.0
// soft-RoCE: 64 bits, counted in sw/rxe/rxe_{comp,net,recv,resp}.c; of the device, shown at its port.
#include "collectors/vocabulary/families.h"
#include "collectors/vocabulary/tables.h"

namespace qpscope {
namespace {

using enum Unit;

// clang-format off: a table is read in columns
constexpr CounterRow kRows[] = {
    {"duplicate_request",      {}, packets,  k64, &kDuplicates,       {},                                     "Requests received again."},
    {"out_of_seq_request",     {}, packets,  k64, &kOutOfSequence,    {},                                     "Requests out of sequence for which a NAK was sent."},
    {"rcvd_bytes",             {}, bytes,    k64, &kRxBytes,          {},                                     "Bytes received."},
    {"rcvd_pkts",              {}, packets,  k64, &kRxPackets,        {},                                     "Packets received."},
    {"sent_bytes",             {}, bytes,    k64, &kTxBytes,          {},                                     "Bytes sent."},
    {"sent_pkts",              {}, packets,  k64, &kTxPackets,        {},                                     "Packets sent."},
    {"rcvd_rnr_err",           {}, events,   k64, &kRnr,              {},                                     "RNR NAKs received."},
    {"send_rnr_err",           {}, events,   k64, &kNoWqe,            {},                                     "RNR NAKs sent."},
    {"rcvd_seq_err",           {}, events,   k64, &kRetransmits,      "sequence_nak",                         "NAKs for a sequence error received."},
    // Every go-back, whatever the cause: it includes most of rcvd_seq_err, so the two must not be in one family, and packets it does not count.
    // Nor is the difference the rest: a NAK that comes while one go-back is under way makes none of its own (rxe_comp.c COMPST_ERROR_RETRY).
    {"completer_retry_err",    {}, events,   k64, nullptr,            {},                                     "Times a requester went back and sent again, after a NAK, a timeout or a lost response."},
    {"retry_exceeded_err",     {}, events,   k64, &kCompletionErrors, "requester/transport_retries_exceeded", "Requester: queue pairs that gave up after retransmissions."},
    {"retry_rnr_exceeded_err", {}, events,   k64, &kCompletionErrors, "requester/rnr_retries_exceeded",       "Requester: queue pairs that gave up after RNR NAKs."},
    {"ack_deferred",           {}, events,   k64, nullptr,            {},                                     "Times the completer was scheduled: no event of the protocol."},
    {"link_downed",            {}, events,   k64, nullptr,            {},                                     "Times the link went down."},
    {"rdma_recvs",             {}, requests, k64, nullptr,            {},                                     "Messages received."},
    {"rdma_sends",             {}, requests, k64, nullptr,            {},                                     "Messages sent."},
    {"send_err",               {}, packets,  k64, nullptr,            {},                                     "Packets that could not be sent."},
};
// clang-format on

}  // namespace

constinit const DriverTable kRxeTable{"rxe", "sw/rxe/rxe_hw_counters.c", kRows};

}  // namespace qpscope
