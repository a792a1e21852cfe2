// SPDX-License-Identifier: Apache-2.0
// cxgb4 (iWARP): counters of the device, over both of its ports (struct tp_tcp_stats: resets have 32 bits, the rest 64).
#include "collectors/vocabulary/families.h"
#include "collectors/vocabulary/tables.h"

namespace qpscope {
namespace {

using enum Unit;

// clang-format off: a table is read in columns
constexpr CounterRow kRows[] = {
    // All are of every offloaded TCP connection, RDMA or not: too much to be RDMA packets; segments sent again are trouble, whosever they are.
    {"ip4RetransSegs", {}, packets, k64, &kRetransmittedPackets, {}, "TCP segments over IPv4 sent again.", {}, true},
    {"ip6RetransSegs", {}, packets, k64, &kRetransmittedPackets, {}, "TCP segments over IPv6 sent again.", {}, true},
    {"ip4InSegs",      {}, packets, k64, nullptr,                {}, "TCP segments over IPv4 received."},
    {"ip4OutRsts",     {}, packets, k32, nullptr,                {}, "TCP resets over IPv4 sent."},
    {"ip4OutSegs",     {}, packets, k64, nullptr,                {}, "TCP segments over IPv4 sent."},
    {"ip6InSegs",      {}, packets, k64, nullptr,                {}, "TCP segments over IPv6 received."},
    {"ip6OutRsts",     {}, packets, k32, nullptr,                {}, "TCP resets over IPv6 sent."},
    {"ip6OutSegs",     {}, packets, k64, nullptr,                {}, "TCP segments over IPv6 sent."},
};
// clang-format on

}  // namespace

constinit const DriverTable kCxgb4Table{"cxgb4", "hw/cxgb4/provider.c", kRows};

}  // namespace qpscope
