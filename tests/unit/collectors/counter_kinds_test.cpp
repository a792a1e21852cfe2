// SPDX-License-Identifier: Apache-2.0
#include "collectors/counter_kinds.h"

#include <catch2/catch.hpp>

using namespace qpscope;

TEST_CASE("mlx5: Q counters have 32 bits, the others 64", "[collectors.counter_kinds]") {
  for (const char* q : {"out_of_sequence", "rx_write_requests", "roce_adp_retrans", "roce_adp_retrans_to", "roce_slow_restart_cnps", "vport_out_of_buffer"}) {
    INFO(q);
    CHECK(hw_counter_kind("mlx5_core", q).kind == kWraps32);
  }
  for (const char* wide : {"np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "rp_cnp_ignored", "rx_icrc_encapsulated", "cc_rx_ce_pkts", "new_one"}) {
    INFO(wide);
    CHECK(hw_counter_kind("mlx5_core", wide).kind == kWide);
  }
  CHECK(hw_counter_kind("rdma_rxe", "duplicate_request").kind == kWide);  // the same name, another driver
  CHECK(hw_counter_kind("", "out_of_sequence").kind == kWide);
  CHECK(hw_counter_kind("hfi1", "SwLinkUp,32").kind == kWraps32);
  CHECK(hw_counter_kind("hfi1", "TxPkt").kind == kWide);
}

TEST_CASE("gauges among the counters", "[collectors.counter_kinds]") {
  CHECK(hw_counter_kind("bnxt_en", "active_qps").gauge);
  CHECK(hw_counter_kind("bnxt_en", "watermark_mrs").gauge);
  CHECK(hw_counter_kind("mana", "current_rate").gauge);
  CHECK_FALSE(hw_counter_kind("bnxt_en", "rx_pkts").gauge);
  CHECK(hw_counter_kind("", "active_qps").gauge);
  CHECK_FALSE(hw_counter_kind("mlx5_core", "out_of_sequence").gauge);
}

TEST_CASE("port counters saturate at their widths", "[collectors.counter_kinds]") {
  CHECK(port_counter_kind("excessive_buffer_overrun_errors", true) == saturating(4));
  CHECK(port_counter_kind("link_downed", true) == saturating(8));
  CHECK(port_counter_kind("symbol_error", true) == saturating(16));
  CHECK(port_counter_kind("port_xmit_wait", true) == saturating(32));
  CHECK(port_counter_kind("link_downed", false) == saturating(8));
  for (const char* name : {"port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets"}) {
    CHECK(port_counter_kind(name, true) == kWide);
    CHECK(port_counter_kind(name, false) == saturating(32));
  }
  CHECK(port_counter_kind("unicast_rcv_packets", true) == kWide);
  CHECK(port_counter_kind("new_one", false) == kWide);
}
