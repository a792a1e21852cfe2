// SPDX-License-Identifier: Apache-2.0
// mlx4: diagnostic counters of 32 bits (hw/mlx4/main.c mlx4_ib_get_hw_stats). Where the card counts by port, the device has the same
// names once more, as sums; num_cqovf and rq_num_udsdprd are the device's alone.
#include "collectors/vocabulary/families.h"
#include "collectors/vocabulary/tables.h"

namespace qpscope {
namespace {

using enum Unit;

// clang-format off: a table is read in columns
constexpr CounterRow kRows[] = {
    {"num_cqovf",      {}, events,  k32, nullptr,            {},                                     "Completion queues that overflowed."},
    {"rq_num_dup",     {}, packets, k32, &kDuplicates,       {},                                     "Responder: requests received again."},
    {"rq_num_lle",     {}, events,  k32, &kCompletionErrors, "responder/local_length",               "Responder: local length errors."},
    {"rq_num_lpe",     {}, events,  k32, &kCompletionErrors, "responder/local_protection",           "Responder: local protection errors."},
    {"rq_num_lqpoe",   {}, events,  k32, &kCompletionErrors, "responder/local_qp_operation",         "Responder: local queue pair operation errors."},
    {"rq_num_oos",     {}, packets, k32, &kOutOfSequence,    {},                                     "Responder: requests received out of sequence."},
    {"rq_num_rae",     {}, events,  k32, &kCompletionErrors, "responder/remote_access",              "Responder: remote access errors."},
    {"rq_num_rire",    {}, events,  k32, &kCompletionErrors, "responder/remote_invalid_request",     "Responder: remote invalid request errors."},
    {"rq_num_rnr",     {}, events,  k32, &kNoWqe,            {},                                     "Responder: RNR NAKs sent."},
    {"rq_num_udsdprd", {}, events,  k32, nullptr,            {},                                     "UD packets dropped in silence because no receive was posted."},
    {"rq_num_wrfe",    {}, events,  k32, &kFlushed,          "responder",                            "Responder: work requests flushed."},
    {"sq_num_bre",     {}, events,  k32, &kCompletionErrors, "requester/bad_response",               "Requester: bad responses."},
    {"sq_num_lle",     {}, events,  k32, &kCompletionErrors, "requester/local_length",               "Requester: local length errors."},
    {"sq_num_lpe",     {}, events,  k32, &kCompletionErrors, "requester/local_protection",           "Requester: local protection errors."},
    {"sq_num_lqpoe",   {}, events,  k32, &kCompletionErrors, "requester/local_qp_operation",         "Requester: local queue pair operation errors."},
    {"sq_num_mwbe",    {}, events,  k32, &kCompletionErrors, "requester/memory_window_bind",         "Requester: memory window bind errors."},
    {"sq_num_oos",     {}, events,  k32, &kRetransmits,      "sequence_nak",                         "Requester: NAKs for a sequence error received."},
    {"sq_num_rae",     {}, events,  k32, &kCompletionErrors, "requester/remote_access",              "Requester: remote access errors."},
    {"sq_num_rire",    {}, events,  k32, &kCompletionErrors, "requester/remote_invalid_request",     "Requester: remote invalid request errors."},
    {"sq_num_rnr",     {}, events,  k32, &kRnr,              {},                                     "Requester: RNR NAKs received."},
    {"sq_num_roe",     {}, events,  k32, &kCompletionErrors, "requester/remote_operation",           "Requester: remote operation errors."},
    {"sq_num_rree",    {}, events,  k32, &kCompletionErrors, "requester/rnr_retries_exceeded",       "Requester: queue pairs that gave up after RNR NAKs."},
    {"sq_num_to",      {}, events,  k32, &kRetransmits,      "ack_timeout",                          "Requester: times the ACK timer ran out."},
    {"sq_num_tree",    {}, events,  k32, &kCompletionErrors, "requester/transport_retries_exceeded", "Requester: queue pairs that gave up after retransmissions."},
    {"sq_num_wrfe",    {}, events,  k32, &kFlushed,          "requester",                            "Requester: work requests flushed."},
};
// clang-format on

}  // namespace

constinit const DriverTable kMlx4Table{"mlx4", "hw/mlx4/main.c; NVIDIA, ConnectX-3 Diagnostic Counters", kRows};

}  // namespace qpscope
