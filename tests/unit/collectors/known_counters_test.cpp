// SPDX-License-Identifier: Apache-2.0
#include "collectors/known_counters.h"

#include <catch2/catch.hpp>

#include "collectors/vocabulary/families.h"

using namespace qpscope;

namespace {

using Shown = std::map<std::string, std::pair<double, std::optional<double>>>;  // by family and label

Shown end_pass(KnownCounters& known) {
  Shown out;
  known.end_pass([&](KnownCounters::Series& one) {
    const auto [at, fresh] = out.try_emplace(std::string(one.meaning->family->name) + " " + std::string(one.meaning->label), one.value, one.rate);
    CHECK(fresh);
  });
  return out;
}

}  // namespace

TEST_CASE("counters that make one series add up", "[collectors.known_counters]") {
  KnownCounters known("ice");
  const auto v4 = known.find("ip4InOctets"), v6 = known.find("ip6InOctets"), cnp = known.find("cnpSent");
  CHECK(known.has_sums());
  known.add(v4, 100, 10);
  known.add(v6, 7, 1);
  known.add(cnp, 3, std::nullopt);
  CHECK(end_pass(known) == Shown{{"qpscope_port_rx_bytes_total ", {107, 11}}, {"qpscope_port_tx_cnp_packets_total ", {3, std::nullopt}}});
}

TEST_CASE("a name is found in any order", "[collectors.known_counters]") {
  KnownCounters known("mlx5_core");
  for (const char* name : {"out_of_sequence", "packet_seq_err", "out_of_sequence", "local_ack_timeout_err", "packet_seq_err", "out_of_sequence", "packet_seq_err"}) {
    CHECK(known.find(name).row == hw_counter_row("mlx5_core", name));
  }
  known.find("packet_seq_err").labels = Labels{"a"};
  known.find("out_of_sequence");
  CHECK(known.find("packet_seq_err").labels == Labels{"a"});
}

TEST_CASE("a sum that lacks a part is not shown", "[collectors.known_counters]") {
  KnownCounters known("ice");
  const auto v4 = known.find("ip4InOctets"), v6 = known.find("ip6InOctets");
  known.add(v4, 100, 10);
  CHECK(end_pass(known).empty());
  known.add(v4, 101, std::nullopt);
  known.add(v6, 7, 1);
  CHECK(end_pass(known) == Shown{{"qpscope_port_rx_bytes_total ", {108, std::nullopt}}});
}

TEST_CASE("a part that is gone for good stays in the sum", "[collectors.known_counters]") {
  KnownCounters known("ice");
  known.add(known.find("ip4InOctets"), 100, 10);
  known.add_gone("ip6InOctets", 7);
  known.add_gone("ip4InOctets", 100);  // is here
  known.add_gone("cnpSent", 9);        // no part of a sum
  known.add_gone("ip6OutOctets", 9);   // of a sum that has no part here
  CHECK(end_pass(known) == Shown{{"qpscope_port_rx_bytes_total ", {107, 10}}});
}

TEST_CASE("what a representor shows is a series of its own", "[collectors.known_counters]") {
  KnownCounters known("mlx5_core");
  const auto twin = known.find("vport_out_of_sequence");
  CHECK(twin.of_representor);
  CHECK(known.has_representor());
  const CounterRow& meaning = *hw_counter_meaning("mlx5_core", "out_of_sequence");
  CHECK_FALSE(known.feeds(meaning));
  known.find("out_of_sequence");
  CHECK(known.feeds(meaning));
}

TEST_CASE("names without a row are told; their number is bounded", "[collectors.known_counters]") {
  KnownCounters known("mlx5_core");
  known.find("out_of_sequence");
  known.find("new");
  known.find("new");
  known.find("req_cqe_error");  // a row without a family
  CHECK(known.unmapped() == std::set<std::string, std::less<>>{"new"});
  for (std::size_t i = 0; i < 2 * KnownCounters::kMost; ++i) known.find("n" + std::to_string(i));
  CHECK(known.unmapped().size() < KnownCounters::kMost);
  CHECK(known.find("packet_seq_err").shape.kind == kWraps32);
}
