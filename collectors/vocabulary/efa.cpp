// SPDX-License-Identifier: Apache-2.0
// efa: 64 bits. The device counts its commands, the port its traffic.
#include "collectors/vocabulary/families.h"
#include "collectors/vocabulary/tables.h"

namespace qpscope {
namespace {

using enum Unit;

// clang-format off: a table is read in columns
constexpr CounterRow kRows[] = {
    // Of the port.
    {"rx_bytes",                    {}, bytes,    k64, &kRxBytes,              {},                     "Bytes received."},
    {"rx_pkts",                     {}, packets,  k64, &kRxPackets,            {},                     "Packets received."},
    {"tx_bytes",                    {}, bytes,    k64, &kTxBytes,              {},                     "Bytes sent."},
    {"tx_pkts",                     {}, packets,  k64, &kTxPackets,            {},                     "Packets sent."},
    {"rx_drops",                    {}, packets,  k64, nullptr,                {},                     "Packets received and dropped."},
    {"retrans_pkts",                {}, packets,  k64, &kRetransmittedPackets, {},                     "Packets sent again."},
    {"retrans_bytes",               {}, bytes,    k64, nullptr,                {},                     "Bytes sent again."},
    {"retrans_timeout_events",      {}, events,   k64, &kRetransmits,          "ack_timeout",          "Times a packet was not acknowledged in time and the network path was changed."},
    {"impaired_remote_conn_events", {}, events,   k64, nullptr,                {},                     "Times a connection was found to be of reduced throughput."},
    {"unresponsive_remote_events",  {}, events,   k64, nullptr,                {},                     "Times a remote did not respond."},
    {"rdma_read_wr_err",            {}, events,   k64, &kCompletionErrors,     "requester/rdma_read",  "READ work requests that completed in error."},
    {"rdma_write_wr_err",           {}, events,   k64, &kCompletionErrors,     "requester/rdma_write", "WRITE work requests that completed in error."},
    {"rdma_read_bytes",             {}, bytes,    k64, nullptr,                {},                     "Bytes received by READs."},
    {"rdma_read_resp_bytes",        {}, bytes,    k64, nullptr,                {},                     "Bytes sent in response to READs."},
    {"rdma_read_wrs",               {}, requests, k64, nullptr,                {},                     "READ work requests completed."},
    {"rdma_write_bytes",            {}, bytes,    k64, nullptr,                {},                     "Bytes sent by WRITEs."},
    {"rdma_write_recv_bytes",       {}, bytes,    k64, nullptr,                {},                     "Bytes received by WRITEs."},
    {"rdma_write_wrs",              {}, requests, k64, nullptr,                {},                     "WRITE work requests completed."},
    {"recv_bytes",                  {}, bytes,    k64, nullptr,                {},                     "Bytes received by receives."},
    {"recv_wrs",                    {}, requests, k64, nullptr,                {},                     "Receives completed."},
    {"send_bytes",                  {}, bytes,    k64, nullptr,                {},                     "Bytes sent by sends."},
    {"send_wrs",                    {}, requests, k64, nullptr,                {},                     "Sends completed."},
    // Of the device: its administration.
    {"alloc_pd_err",                {}, events,   k64, nullptr,                {},                     "Protection domains that could not be allocated."},
    {"alloc_ucontext_err",          {}, events,   k64, nullptr,                {},                     "User contexts that could not be allocated."},
    {"cmds_err",                    {}, events,   k64, nullptr,                {},                     "Commands that failed."},
    {"completed_cmds",              {}, events,   k64, nullptr,                {},                     "Commands completed."},
    {"create_ah_err",               {}, events,   k64, nullptr,                {},                     "Address handles that could not be created."},
    {"create_cq_err",               {}, events,   k64, nullptr,                {},                     "Completion queues that could not be created."},
    {"create_qp_err",               {}, events,   k64, nullptr,                {},                     "Queue pairs that could not be created."},
    {"keep_alive_rcvd",             {}, events,   k64, nullptr,                {},                     "Signs of life of the device."},
    {"mmap_err",                    {}, events,   k64, nullptr,                {},                     "Mappings that failed."},
    {"no_completion_cmds",          {}, events,   k64, nullptr,                {},                     "Commands that were not completed."},
    {"reg_mr_err",                  {}, events,   k64, nullptr,                {},                     "Memory regions that could not be registered."},
    {"submitted_cmds",              {}, events,   k64, nullptr,                {},                     "Commands submitted."},
};
// clang-format on

}  // namespace

constinit const DriverTable kEfaTable{"efa", "hw/efa/efa_verbs.c; AWS, Monitor an Elastic Fabric Adapter", kRows};

}  // namespace qpscope
