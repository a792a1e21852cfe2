// SPDX-License-Identifier: Apache-2.0
// erdma: 64 bits. Drops by a limit are what the instance has paid for, not loss in the network.
#include "collectors/vocabulary/families.h"
#include "collectors/vocabulary/tables.h"

namespace qpscope {
namespace {

using enum Unit;

// clang-format off: a table is read in columns
constexpr CounterRow kRows[] = {
    {"rx_bytes_cnt",          {}, bytes,    k64, &kRxBytes,      {},            "Bytes received."},
    {"rx_packets_cnt",        {}, packets,  k64, &kRxPackets,    {},            "Packets received."},
    {"tx_bytes_cnt",          {}, bytes,    k64, &kTxBytes,      {},            "Bytes sent."},
    {"tx_packets_cnt",        {}, packets,  k64, &kTxPackets,    {},            "Packets sent."},
    {"rx_bps_limit_drop_cnt", {}, packets,  k64, &kRxLimitDrops, "bandwidth",   "Packets dropped on receipt by the limit of bits a second."},
    {"rx_pps_limit_drop_cnt", {}, packets,  k64, &kRxLimitDrops, "packet_rate", "Packets dropped on receipt by the limit of packets a second."},
    {"tx_bps_limit_drop_cnt", {}, packets,  k64, &kTxLimitDrops, "bandwidth",   "Packets not sent by the limit of bits a second."},
    {"tx_pps_limit_drop_cnt", {}, packets,  k64, &kTxLimitDrops, "packet_rate", "Packets not sent by the limit of packets a second."},
    {"rx_disable_drop_cnt",   {}, packets,  k64, nullptr,        {},            "Packets dropped on receipt while the device was disabled."},
    {"tx_disable_drop_cnt",   {}, packets,  k64, nullptr,        {},            "Packets not sent while the device was disabled."},
    {"tx_reqs_cnt",           {}, requests, k64, nullptr,        {},            "Requests sent."},
};
// clang-format on

}  // namespace

constinit const DriverTable kErdmaTable{"erdma", "hw/erdma/erdma_verbs.c", kRows};

}  // namespace qpscope
