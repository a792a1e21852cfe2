// SPDX-License-Identifier: Apache-2.0
// irdma, and i40iw before it: X722, E810 and later. The registers have 24 to 56 bits, which the driver adds up to 64
// (hw/irdma/utils.c irdma_update_stats). The X722 lacks what is of the E810.
#include "collectors/vocabulary/families.h"
#include "collectors/vocabulary/tables.h"

namespace qpscope {
namespace {

using enum Unit;

// clang-format off: a table is read in columns
constexpr CounterRow kRows[] = {
    // Bytes and packets of IP, headers included; of IPv4 and of IPv6.
    {"ip4InOctets",                {},                bytes,    k64, &kRxBytes,              {},             "IPv4 bytes received, multicast included.", {}, true},
    {"ip4InPkts",                  {},                packets,  k64, &kRxPackets,            {},             "IPv4 packets received, multicast included.", {}, true},
    {"ip4OutOctets",               {},                bytes,    k64, &kTxBytes,              {},             "IPv4 bytes sent, multicast included.", {}, true},
    {"ip4OutPkts",                 {},                packets,  k64, &kTxPackets,            {},             "IPv4 packets sent, multicast included.", {}, true},
    {"ip6InOctets",                {},                bytes,    k64, &kRxBytes,              {},             "IPv6 bytes received, multicast included.", {}, true},
    {"ip6InPkts",                  {},                packets,  k64, &kRxPackets,            {},             "IPv6 packets received, multicast included.", {}, true},
    {"ip6OutOctets",               {},                bytes,    k64, &kTxBytes,              {},             "IPv6 bytes sent, multicast included.", {}, true},
    {"ip6OutPkts",                 {},                packets,  k64, &kTxPackets,            {},             "IPv6 packets sent, multicast included.", {}, true},
    {"ip4InDiscards",              {},                packets,  k64, nullptr,                {},             "IPv4 packets received and discarded."},
    {"ip4InMcastOctets",           {},                bytes,    k64, nullptr,                {},             "IPv4 multicast bytes received."},
    {"ip4InMcastPkts",             {},                packets,  k64, nullptr,                {},             "IPv4 multicast packets received."},
    {"ip4InReasmRqd",              {},                packets,  k64, nullptr,                {},             "IPv4 fragments received."},
    {"ip4InTruncatedPkts",         {},                packets,  k64, nullptr,                {},             "IPv4 packets received that were cut short."},
    {"ip4OutMcastOctets",          {},                bytes,    k64, nullptr,                {},             "IPv4 multicast bytes sent."},
    {"ip4OutMcastPkts",            {},                packets,  k64, nullptr,                {},             "IPv4 multicast packets sent."},
    {"ip4OutNoRoutes",             {},                packets,  k64, nullptr,                {},             "IPv4 packets without a route."},
    {"ip4OutSegRqd",               {},                packets,  k64, nullptr,                {},             "IPv4 fragments sent."},
    {"ip6InDiscards",              {},                packets,  k64, nullptr,                {},             "IPv6 packets received and discarded."},
    {"ip6InMcastOctets",           {},                bytes,    k64, nullptr,                {},             "IPv6 multicast bytes received."},
    {"ip6InMcastPkts",             {},                packets,  k64, nullptr,                {},             "IPv6 multicast packets received."},
    {"ip6InReasmRqd",              {},                packets,  k64, nullptr,                {},             "IPv6 fragments received."},
    {"ip6InTruncatedPkts",         {},                packets,  k64, nullptr,                {},             "IPv6 packets received that were cut short."},
    {"ip6OutMcastOctets",          {},                bytes,    k64, nullptr,                {},             "IPv6 multicast bytes sent."},
    {"ip6OutMcastPkts",            {},                packets,  k64, nullptr,                {},             "IPv6 multicast packets sent."},
    {"ip6OutNoRoutes",             {},                packets,  k64, nullptr,                {},             "IPv6 packets without a route."},
    {"ip6OutSegRqd",               {},                packets,  k64, nullptr,                {},             "IPv6 fragments sent."},
    {"RxUDP",                      {},                packets,  k64, nullptr,                {},             "UDP packets received."},
    {"TxUDP",                      {},                packets,  k64, nullptr,                {},             "UDP packets sent."},
    {"rxVlanErrors",               {},                packets,  k64, nullptr,                {},             "Packets received with a wrong VLAN."},
    // Congestion (E810 and later).
    {"RxECNMrkd",                  {},                packets,  k64, &kRxEcn,                {},             "Packets received with congestion experienced set."},
    {"cnpHandled",                 {},                packets,  k64, &kRxCnp,                {},             "CNPs received and acted on."},
    {"cnpIgnored",                 {},                packets,  k64, &kRxCnpIgnored,         {},             "CNPs received and ignored."},
    {"cnpSent",                    {},                packets,  k64, &kTxCnp,                {},             "CNPs sent."},
    // iWARP, with and without the prefix.
    {"tcpRetransSegs",             {"RetransSegs"},   packets,  k64, &kRetransmittedPackets, {},             "TCP segments sent again."},
    {"tcpInOptErrors",             {"InOptErrors"},   packets,  k64, nullptr,                {},             "TCP segments received with wrong options."},
    {"tcpInProtoErrors",           {"InProtoErrors"}, packets,  k64, nullptr,                {},             "TCP segments received with protocol errors."},
    {"tcpInSegs",                  {"InSegs"},        packets,  k64, nullptr,                {},             "TCP segments received."},
    {"tcpOutSegs",                 {"OutSegs"},       packets,  k64, nullptr,                {},             "TCP segments sent."},
    {"iwInRdmaReads",              {"InRdmaReads"},   requests, k64, nullptr,                {},             "READ requests received."},
    {"iwInRdmaSends",              {"InRdmaSends"},   requests, k64, nullptr,                {},             "SENDs received."},
    {"iwInRdmaWrites",             {"InRdmaWrites"},  requests, k64, nullptr,                {},             "WRITEs received."},
    {"iwOutRdmaReads",             {"OutRdmaReads"},  requests, k64, nullptr,                {},             "READ requests sent."},
    {"iwOutRdmaSends",             {"OutRdmaSends"},  requests, k64, nullptr,                {},             "SENDs sent."},
    {"iwOutRdmaWrites",            {"OutRdmaWrites"}, requests, k64, nullptr,                {},             "WRITEs sent."},
    {"iwRdmaBnd",                  {"RdmaBnd"},       requests, k64, nullptr,                {},             "Memory windows bound."},
    {"iwRdmaInv",                  {"RdmaInv"},       requests, k64, nullptr,                {},             "Memory keys invalidated."},
    // Third generation.
    {"CRC errors",                 {},                packets,  k64, &kIcrc,                 {},             "Packets received with a wrong invariant CRC."},
    {"Nak Sequence Error",         {},                events,   k64, &kRetransmits,          "sequence_nak", "NAKs for a sequence error."},
    {"Nak Sequence Error Implied", {},                events,   k64, &kRetransmits,          "implied_nak",  "NAKs implied by a response beyond the one expected."},
    {"RNR received",               {},                events,   k64, &kRnr,                  {},             "RNR NAKs received."},
    {"RNR sent",                   {},                events,   k64, &kNoWqe,                {},             "RNR NAKs sent."},
    {"RTO",                        {},                events,   k64, &kRetransmits,          "ack_timeout",  "Retransmission timeouts."},
    {"Rcvd Out of order packets",  {},                packets,  k64, &kOutOfSequence,        {},             "Packets received out of sequence."},
    {"Rx atomics",                 {},                requests, k64, nullptr,                {},             "ATOMIC requests received."},
    {"Tx atomics",                 {},                requests, k64, nullptr,                {},             "ATOMIC requests sent."},
    {"ird limit count",            {},                events,   k64, nullptr,                {},             "Times the limit of inbound READs was met."},
    {"ord limit count",            {},                events,   k64, nullptr,                {},             "Times the limit of outbound READs was met."},
};
// clang-format on

}  // namespace

constinit const DriverTable kIrdmaTable{"irdma", "hw/irdma/verbs.c", kRows};

}  // namespace qpscope
