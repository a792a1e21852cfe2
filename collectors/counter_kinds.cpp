// SPDX-License-Identifier: Apache-2.0
#include "collectors/counter_kinds.h"

#include <algorithm>
#include <iterator>

namespace qpscope {
namespace {

constexpr HwCounterKind kQ{kWraps32}, kGauge{.kind = kWide, .gauge = true};

struct HwRow {
  std::string_view driver;   // kernel module, as in vocabulary.cpp; "" for every driver
  std::string_view counter;  // one "*" at the begin or the end stands for anything
  HwCounterKind is;
};

// clang-format off: a table is read in columns
constexpr HwRow kHwRows[] = {
    // mlx5 Q counters: 32 bits in the firmware, shown as sums over the port's counter sets (hw/mlx5/counters.c, core/counters.c).
    // Its congestion counters, the optional ones and rx_icrc_encapsulated have 64 bits.
    {"mlx5_core", "duplicate_request", kQ},
    {"mlx5_core", "implied_nak_seq_err", kQ},
    {"mlx5_core", "local_ack_timeout_err", kQ},
    {"mlx5_core", "out_of_buffer", kQ},
    {"mlx5_core", "out_of_sequence", kQ},
    {"mlx5_core", "packet_seq_err", kQ},
    {"mlx5_core", "req_cqe_error", kQ},
    {"mlx5_core", "req_cqe_flush_error", kQ},
    {"mlx5_core", "req_remote_access_errors", kQ},
    {"mlx5_core", "req_remote_invalid_request", kQ},
    {"mlx5_core", "req_rnr_retries_exceeded", kQ},
    {"mlx5_core", "req_transport_retries_exceeded", kQ},
    {"mlx5_core", "resp_cqe_error", kQ},
    {"mlx5_core", "resp_cqe_flush_error", kQ},
    {"mlx5_core", "resp_local_length_error", kQ},
    {"mlx5_core", "resp_remote_access_errors", kQ},
    {"mlx5_core", "rnr_nak_retry_err", kQ},
    {"mlx5_core", "roce_adp_retrans*", kQ},
    {"mlx5_core", "roce_slow_restart*", kQ},
    {"mlx5_core", "rx_atomic_requests", kQ},
    {"mlx5_core", "rx_dct_connect", kQ},
    {"mlx5_core", "rx_read_requests", kQ},
    {"mlx5_core", "rx_write_requests", kQ},
    {"mlx5_core", "vport_*", kQ},                // the same for a representor, and Q counters only
    {"hfi1",      "*,32", kQ},                   // the driver says so in the name (hw/hfi1/chip.c init_cntrs)
    // Levels by their name, whoever has it: bnxt_re's objects in use (hw/bnxt_re/hw_counters.c), mana's rate (hw/mana/counters.c).
    {"", "active_*", kGauge},
    {"", "current_rate", kGauge},
    {"", "db_fifo_register", kGauge},
    {"", "watermark_*", kGauge},
};

// IB PortCounters saturate (IBA 16.1.3.5; widths: core/sysfs.c port_pma_attr_*). Bytes and packets do too on cards that have no
// extended counters; the extended ones wrap at 2^64.
constexpr struct {
  std::string_view counter;
  unsigned bits;
  bool when_extended;  // also on cards with extended counters
} kPortRows[] = {
    {"VL15_dropped",                    16, true},
    {"excessive_buffer_overrun_errors", 4,  true},
    {"link_downed",                     8,  true},
    {"link_error_recovery",             8,  true},
    {"local_link_integrity_errors",     4,  true},
    {"port_rcv_constraint_errors",      8,  true},
    {"port_rcv_data",                   32, false},
    {"port_rcv_errors",                 16, true},
    {"port_rcv_packets",                32, false},
    {"port_rcv_remote_physical_errors", 16, true},
    {"port_rcv_switch_relay_errors",    16, true},
    {"port_xmit_constraint_errors",     8,  true},
    {"port_xmit_data",                  32, false},
    {"port_xmit_discards",              16, true},
    {"port_xmit_packets",               32, false},
    {"port_xmit_wait",                  32, true},
    {"symbol_error",                    16, true},
};
// clang-format on

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  if (pattern.starts_with('*')) return name.ends_with(pattern.substr(1));
  return name == pattern;
}

}  // namespace

HwCounterKind hw_counter_kind(std::string_view driver, std::string_view counter) {
  const auto* row = std::ranges::find_if(
      kHwRows, [&](const HwRow& one) { return (one.driver.empty() || one.driver == driver) && matches(one.counter, counter); });
  return row == std::end(kHwRows) ? HwCounterKind{kWide} : row->is;
}

CounterKind port_counter_kind(std::string_view counter, bool extended) {
  for (const auto& row : kPortRows) {
    if (row.counter == counter) return extended && !row.when_extended ? kWide : saturating(row.bits);
  }
  return kWide;
}

}  // namespace qpscope
