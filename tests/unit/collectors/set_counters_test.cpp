// SPDX-License-Identifier: Apache-2.0
#include "collectors/set_counters.h"

#include <catch2/catch.hpp>

using namespace qpscope;

namespace {

constexpr PortNum kPort{1};

SetBook book_of(std::vector<std::string> names) {
  SetBook book;
  book.counts([](std::string_view counter) { return part_in_sets("mlx5_core", counter); });
  SetBook::Row row{.id = {1}, .members = {{100}}, .counters = {}};
  for (std::string& name : names) row.counters.emplace_back(std::move(name), 0);
  TenantLedger ledger;
  book.read(kPort, std::vector{row}, true, {1}, ledger, [](PortNum, Qpn) { return std::nullopt; });
  return book;
}

}  // namespace

TEST_CASE("Q counters count in sets under the port's names, optional ones as parts of what the port counts", "[collectors.set_counters]") {
  const auto q = part_in_sets("mlx5_core", "packet_seq_err");
  REQUIRE(q);
  CHECK(q->of == PortCounter{"hw_counters", "packet_seq_err"});
  CHECK(q->kind == kWraps32);
  const auto bytes = part_in_sets("mlx5_core", "rdma_tx_bytes");
  REQUIRE(bytes);
  CHECK(bytes->of == PortCounter{"counters", "port_xmit_data"});
  CHECK(bytes->per == 4);
  CHECK(bytes->kind == kWide);
  for (const char* listed : {"np_cnp_sent", "rp_cnp_handled", "rx_icrc_encapsulated", "vport_packet_seq_err", "no_such"}) CHECK_FALSE(part_in_sets("mlx5_core", listed));
  CHECK_FALSE(part_in_sets("rdma_rxe", "rcvd_seq_err"));
}

TEST_CASE("what the port counts is a set's only where the sets list it", "[collectors.set_counters]") {
  const SetBook unread, earlier = book_of({"packet_seq_err", "np_cnp_sent"}), later = book_of({"packet_seq_err", "np_cnp_sent", "cc_tx_cnp_pkts"});
  const PortCounter cnp{"hw_counters", "np_cnp_sent"}, seq{"hw_counters", "packet_seq_err"}, data{"counters", "port_xmit_data"};
  CHECK(counted_in_sets("mlx5_core", unread, kPort, seq));
  CHECK_FALSE(counted_in_sets("mlx5_core", unread, kPort, cnp));
  CHECK_FALSE(counted_in_sets("mlx5_core", earlier, kPort, cnp));
  CHECK(counted_in_sets("mlx5_core", later, kPort, cnp));
  CHECK_FALSE(counted_in_sets("mlx5_core", later, PortNum{2}, cnp));
  CHECK_FALSE(counted_in_sets("mlx5_core", later, kPort, data));
}
