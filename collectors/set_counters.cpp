// SPDX-License-Identifier: Apache-2.0
#include "collectors/set_counters.h"

#include <algorithm>
#include <iterator>

#include "collectors/vocabulary/vocabulary.h"

namespace qpscope {
namespace {

struct Optional {
  std::string_view counter, source, of;
  std::uint64_t per = 1;
};
// What a set lists of these is on: those that are off are left out of the answer (core/nldev.c fill_stat_counter_hwcounters).
constexpr Optional kOptional[] = {
    {"cc_rx_ce_pkts", "hw_counters", "np_ecn_marked_roce_packets"},
    {"cc_rx_cnp_pkts", "hw_counters", "rp_cnp_handled"},  // those ignored too, which are rare
    {"cc_tx_cnp_pkts", "hw_counters", "np_cnp_sent"},
    {"rdma_rx_bytes", "counters", "port_rcv_data", 4},
    {"rdma_rx_packets", "counters", "port_rcv_packets"},
    {"rdma_tx_bytes", "counters", "port_xmit_data", 4},
    {"rdma_tx_packets", "counters", "port_xmit_packets"},
};

}  // namespace

std::optional<SetBook::Part> part_in_sets(std::string_view driver, std::string_view counter) {
  if (driver != "mlx5_core" || is_of_representor(driver, counter)) return std::nullopt;
  const auto* optional = std::ranges::find(kOptional, counter, &Optional::counter);
  if (optional != std::end(kOptional)) return SetBook::Part{kWide, {std::string(optional->source), std::string(optional->of)}, optional->per};
  const CounterKind kind = hw_counter_shape(driver, counter).kind;
  return kind == kWraps32 ? std::optional(SetBook::Part{kind, {"hw_counters", std::string(counter)}}) : std::nullopt;
}

bool counted_in_sets(std::string_view driver, const SetBook& book, PortNum port, const PortCounter& counter) {
  if (book.counts(port, counter)) return true;
  return counter.source == "hw_counters" && part_in_sets(driver, counter.name).has_value();
}

}  // namespace qpscope
