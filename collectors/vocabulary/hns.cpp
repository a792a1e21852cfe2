// SPDX-License-Identifier: Apache-2.0
// hns: 64 bits (hns_roce_hw_v2_query_counter). Packets only: nothing here counts bytes.
#include "collectors/vocabulary/families.h"
#include "collectors/vocabulary/tables.h"

namespace qpscope {
namespace {

using enum Unit;

// clang-format off: a table is read in columns
constexpr CounterRow kRows[] = {
    // The total has the family; the parts by service (RC, UC, UD, XRC) stay raw beside it.
    {"rx_pkt",               {}, packets, k64, &kRxPackets, {}, "Packets received."},
    {"tx_pkt",               {}, packets, k64, &kTxPackets, {}, "Packets sent."},
    {"rx_cnp_pkt",           {}, packets, k64, &kRxCnp,     {}, "CNPs received."},
    {"tx_cnp_pkt",           {}, packets, k64, &kTxCnp,     {}, "CNPs sent."},
    {"rx_rc_pkt",            {}, packets, k64, nullptr,     {}, "Packets received of RC queue pairs, part of rx_pkt."},
    {"rx_uc_pkt",            {}, packets, k64, nullptr,     {}, "Packets received of UC queue pairs, part of rx_pkt."},
    {"rx_ud_pkt",            {}, packets, k64, nullptr,     {}, "Packets received of UD queue pairs, part of rx_pkt."},
    {"rx_xrc_pkt",           {}, packets, k64, nullptr,     {}, "Packets received of XRC queue pairs, part of rx_pkt."},
    {"tx_rc_pkt",            {}, packets, k64, nullptr,     {}, "Packets sent of RC queue pairs, part of tx_pkt."},
    {"tx_uc_pkt",            {}, packets, k64, nullptr,     {}, "Packets sent of UC queue pairs, part of tx_pkt."},
    {"tx_ud_pkt",            {}, packets, k64, nullptr,     {}, "Packets sent of UD queue pairs, part of tx_pkt."},
    {"tx_xrc_pkt",           {}, packets, k64, nullptr,     {}, "Packets sent of XRC queue pairs, part of tx_pkt."},
    {"rx_err_pkt",           {}, packets, k64, nullptr,     {}, "Packets received with an error."},
    {"tx_err_pkt",           {}, packets, k64, nullptr,     {}, "Packets sent with an error."},
    {"cq_cqe",               {}, events,  k64, nullptr,     {}, "Completions written."},
    {"cq_notify",            {}, events,  k64, nullptr,     {}, "Completion queues that were notified."},
    {"cq_poe",               {}, events,  k64, nullptr,     {}, "Completions written to another device."},
    {"ecn_doorbell",         {}, events,  k64, nullptr,     {}, "Doorbells of congestion control."},
    {"rx_buffer",            {}, events,  k64, nullptr,     {}, "Packets through the receive buffer."},
    {"trp_get_irrl_err_pkt", {}, packets, k64, nullptr,     {}, "Packets whose READ or ATOMIC entry could not be fetched."},
    {"trp_get_mpt_err_pkt",  {}, packets, k64, nullptr,     {}, "Packets whose memory key could not be fetched."},
    {"trp_rx_sof",           {}, events,  k64, nullptr,     {}, "Starts of a frame received."},
};
// clang-format on

}  // namespace

constinit const DriverTable kHnsTable{"hns", "hw/hns/hns_roce_main.c", kRows};

}  // namespace qpscope
