// SPDX-License-Identifier: Apache-2.0
// mana, in kernels after 6.12: 64 bits.
#include "collectors/vocabulary/families.h"
#include "collectors/vocabulary/tables.h"

namespace qpscope {
namespace {

using enum Unit;

// clang-format off: a table is read in columns
constexpr CounterRow kRows[] = {
    // Of the port.
    {"rx_bytes",                           {}, bytes,    k64,    &kRxBytes,          {},                                     "Bytes received."},
    {"rx_packets",                         {}, packets,  k64,    &kRxPackets,        {},                                     "Packets received."},
    {"tx_bytes",                           {}, bytes,    k64,    &kTxBytes,          {},                                     "Bytes sent."},
    {"tx_packets",                         {}, packets,  k64,    &kTxPackets,        {},                                     "Packets sent."},
    {"received_cnps",                      {}, packets,  k64,    &kRxCnp,            {},                                     "CNPs received."},
    {"requester_timeout",                  {}, events,   k64,    &kRetransmits,      "ack_timeout",                          "Requester: times the ACK timer ran out."},
    {"requester_oos_nak",                  {}, events,   k64,    &kRetransmits,      "sequence_nak",                         "Requester: NAKs for a sequence error received."},
    {"requester_implicit_nak",             {}, events,   k64,    &kRetransmits,      "implied_nak",                          "Requester: NAKs implied by a response."},
    {"requester_rnr_nak",                  {}, events,   k64,    &kRnr,              {},                                     "Requester: RNR NAKs received."},
    {"responder_rnr_nak",                  {}, events,   k64,    &kNoWqe,            {},                                     "Responder: RNR NAKs sent."},
    {"responder_oos",                      {}, packets,  k64,    &kOutOfSequence,    {},                                     "Responder: packets received out of sequence."},
    {"responder_dup_request",              {}, packets,  k64,    &kDuplicates,       {},                                     "Responder: requests received again."},
    {"requester_retries_exceeded",         {}, events,   k64,    &kCompletionErrors, "requester/transport_retries_exceeded", "Requester: queue pairs that gave up after retransmissions."},
    {"requester_rnr_nak_retries_exceeded", {}, events,   k64,    &kCompletionErrors, "requester/rnr_retries_exceeded",       "Requester: queue pairs that gave up after RNR NAKs."},
    {"requestor_local_prot_error",         {}, events,   k64,    &kCompletionErrors, "requester/local_protection",           "Requester: local protection errors."},
    {"responder_local_len_error",          {}, events,   k64,    &kCompletionErrors, "responder/local_length",               "Responder: local length errors."},
    {"responder_local_qp_error",           {}, events,   k64,    &kCompletionErrors, "responder/local_qp_operation",         "Responder: local queue pair operation errors."},
    {"responder_rem_access_error",         {}, events,   k64,    &kCompletionErrors, "responder/remote_access",              "Responder: remote access errors."},
    {"responder_malformed_wqe",            {}, events,   k64,    &kCompletionErrors, "responder/malformed_wqe",              "Responder: malformed work requests."},
    // Whether these NAKs were sent or received is nowhere said; the totals overlap what is above. They stay raw.
    {"nak_access_error",                   {}, events,   k64,    nullptr,            {},                                     "NAKs for an access error."},
    {"nak_inv_read",                       {}, events,   k64,    nullptr,            {},                                     "NAKs for an invalid READ."},
    {"nak_inv_req",                        {}, events,   k64,    nullptr,            {},                                     "NAKs for an invalid request."},
    {"nak_opp_error",                      {}, events,   k64,    nullptr,            {},                                     "NAKs for an operation error."},
    {"dup_rx_requests",                    {}, packets,  k64,    nullptr,            {},                                     "Requests received again, as responder_dup_request."},
    {"general_hw_error",                   {}, events,   k64,    nullptr,            {},                                     "Hardware errors."},
    {"total_fatal_error",                  {}, events,   k64,    nullptr,            {},                                     "Fatal errors of every kind."},
    {"requester_readresp_psn_mismatch",    {}, events,   k64,    nullptr,            {},                                     "Requester: READ responses with an unexpected PSN."},
    {"current_rate",                       {}, unknown,  kGauge, nullptr,            {},                                     "Rate of the last queue pair that congestion control changed."},
    {"num_qps_congested",                  {}, events,   k64,    nullptr,            {},                                     "Times a queue pair was found congested."},
    {"num_qps_recovered",                  {}, events,   k64,    nullptr,            {},                                     "Times a queue pair was congested no longer."},
    {"rx_read_requests",                   {}, requests, k64,    nullptr,            {},                                     "READ requests received."},
    {"rx_send_requests",                   {}, requests, k64,    nullptr,            {},                                     "SENDs received."},
    {"rx_write_requests",                  {}, requests, k64,    nullptr,            {},                                     "WRITEs received."},
    // Of the device, over all of its functions. rate_inc_events are the port's, too.
    {"sent_cnps",                          {}, packets,  k64,    &kTxCnp,            {},                                     "CNPs sent."},
    {"received_ecns",                      {}, packets,  k64,    &kRxEcn,            {},                                     "Packets received with congestion experienced set."},
    {"received_cnp_count",                 {}, packets,  k64,    nullptr,            {},                                     "CNPs received, as received_cnps of the port."},
    {"qp_congested_events",                {}, events,   k64,    nullptr,            {},                                     "Times a queue pair was found congested."},
    {"qp_recovered_events",                {}, events,   k64,    nullptr,            {},                                     "Times a queue pair was congested no longer."},
    {"rate_inc_events",                    {}, events,   k64,    nullptr,            {},                                     "Times congestion control raised a rate."},
};
// clang-format on

}  // namespace

constinit const DriverTable kManaTable{"mana", "hw/mana/counters.c", kRows};

}  // namespace qpscope
