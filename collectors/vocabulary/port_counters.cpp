// SPDX-License-Identifier: Apache-2.0
// counters/, the IB PortCounters: the same on every driver that has them. The small ones saturate, bytes and packets do on cards without
// extended counters; the extended ones wrap at 2^64 (core/sysfs.c port_pma_attr_*).
#include "collectors/vocabulary/families.h"
#include "collectors/vocabulary/tables.h"

namespace qpscope {
namespace {

using enum Unit;

// clang-format off: a table is read in columns
constexpr CounterRow kRows[] = {
    {"VL15_dropped",                    {}, packets, saturates(16), nullptr,     {}, "Management packets dropped for want of room."},
    {"excessive_buffer_overrun_errors", {}, events,  saturates(4),  nullptr,     {}, "Times the receive buffer overran."},
    {"link_downed",                     {}, events,  saturates(8),  nullptr,     {}, "Times the link went down."},
    {"link_error_recovery",             {}, events,  saturates(8),  nullptr,     {}, "Times the link recovered from an error."},
    {"local_link_integrity_errors",     {}, events,  saturates(4),  nullptr,     {}, "Times errors of the line met their limit."},
    {"multicast_rcv_packets",           {}, packets, k64,           nullptr,     {}, "Multicast packets received."},
    {"multicast_xmit_packets",          {}, packets, k64,           nullptr,     {}, "Multicast packets sent."},
    {"port_rcv_constraint_errors",      {}, packets, saturates(8),  nullptr,     {}, "Packets received against a constraint."},
    {"port_rcv_data",                   {}, words,   kExtended,     &kRxBytes,   {}, "4-byte words received, on every link width."},
    {"port_rcv_errors",                 {}, packets, saturates(16), nullptr,     {}, "Packets received with an error."},
    {"port_rcv_packets",                {}, packets, kExtended,     &kRxPackets, {}, "Packets received."},
    {"port_rcv_remote_physical_errors", {}, packets, saturates(16), nullptr,     {}, "Packets received that the sender had marked as bad."},
    {"port_rcv_switch_relay_errors",    {}, packets, saturates(16), nullptr,     {}, "Packets that could not be forwarded."},
    {"port_xmit_constraint_errors",     {}, packets, saturates(8),  nullptr,     {}, "Packets not sent because of a constraint."},
    {"port_xmit_data",                  {}, words,   kExtended,     &kTxBytes,   {}, "4-byte words sent, on every link width."},
    {"port_xmit_discards",              {}, packets, saturates(16), nullptr,     {}, "Packets discarded because the port was down or congested."},
    {"port_xmit_packets",               {}, packets, kExtended,     &kTxPackets, {}, "Packets sent."},
    {"port_xmit_wait",                  {}, ticks,   saturates(32), nullptr,     {}, "Time in which packets could not be sent."},
    {"symbol_error",                    {}, events,  saturates(16), nullptr,     {}, "Symbol errors of the line."},
    {"unicast_rcv_packets",             {}, packets, k64,           nullptr,     {}, "Unicast packets received."},
    {"unicast_xmit_packets",            {}, packets, k64,           nullptr,     {}, "Unicast packets sent."},
};
// clang-format on

}  // namespace

constinit const DriverTable kPortCountersTable{"counters", "core/sysfs.c; Documentation/ABI/stable/sysfs-class-infiniband; IBA 16.1.3.5", kRows};

}  // namespace qpscope
