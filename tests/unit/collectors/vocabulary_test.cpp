// SPDX-License-Identifier: Apache-2.0
#include "collectors/vocabulary/vocabulary.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <regex>
#include <set>

#include "collectors/vocabulary/families.h"
#include "core/text.h"

using namespace qpscope;

TEST_CASE("mlx5: Q counters have 32 bits, the others 64", "[collectors.vocabulary]") {
  for (const char* q : {"out_of_sequence", "rx_write_requests", "roce_adp_retrans", "roce_adp_retrans_to", "roce_slow_restart_cnps", "vport_out_of_buffer"}) {
    INFO(q);
    CHECK(hw_counter_shape("mlx5_core", q).kind == kWraps32);
  }
  for (const char* wide :
       {"np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "rp_cnp_ignored", "rx_icrc_encapsulated", "cc_rx_ce_pkts", "new_one"}) {
    INFO(wide);
    CHECK(hw_counter_shape("mlx5_core", wide).kind == kWide);
  }
  CHECK(hw_counter_shape("rdma_rxe", "duplicate_request").kind == kWide);  // the same name, another driver
  CHECK(hw_counter_shape("", "out_of_sequence").kind == kWide);
  CHECK(hw_counter_shape("hfi1", "SwLinkUp,32").kind == kWraps32);
  CHECK(hw_counter_shape("hfi1", "TxPkt").kind == kWide);
}

TEST_CASE("gauges among the counters", "[collectors.vocabulary]") {
  CHECK(hw_counter_shape("bnxt_en", "active_qps").gauge);
  CHECK(hw_counter_shape("bnxt_en", "watermark_mrs").gauge);
  CHECK(hw_counter_shape("mana", "current_rate").gauge);
  CHECK_FALSE(hw_counter_shape("bnxt_en", "rx_pkts").gauge);
  CHECK(hw_counter_shape("", "active_qps").gauge);
  CHECK_FALSE(hw_counter_shape("mlx5_core", "out_of_sequence").gauge);
}

TEST_CASE("port counters saturate at their widths", "[collectors.vocabulary]") {
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

namespace {

std::vector<std::string> names_of(const CounterRow& row) {
  std::vector<std::string> out{std::string(row.counter)};
  for (const std::string_view other : row.renames) {
    if (!other.empty()) out.emplace_back(other);
  }
  return out;
}

bool is_pattern(std::string_view name) { return name.contains('*'); }

// Every row of every table, with its table.
template <class Take>
void each_row(Take take) {
  for (const DriverTable* table : driver_tables()) {
    for (const CounterRow& row : table->rows) take(*table, row);
  }
}

}  // namespace

TEST_CASE("the tables: each name once a driver, one star at most", "[collectors.vocabulary]") {
  for (const DriverTable* table : driver_tables()) {
    std::set<std::string> seen;
    for (const CounterRow& row : table->rows) {
      for (const std::string& name : names_of(row)) {
        INFO(table->driver << " " << name);
        CHECK(seen.insert(name).second);
        CHECK(std::ranges::count(name, '*') <= 1);
        if (is_pattern(name)) CHECK(name.starts_with('*') != name.ends_with('*'));
      }
    }
  }
}

TEST_CASE("the tables: what a row says can be shown", "[collectors.vocabulary]") {
  each_row([](const DriverTable& table, const CounterRow& row) {
    INFO(table.driver << " " << row.counter);
    CHECK(is_plain(row.help));
    CHECK(row.help.ends_with('.'));
    CHECK_FALSE(row.help.contains('|'));
    CHECK_FALSE(row.source.contains('|'));
    CHECK_FALSE(table.source.empty());
    std::vector<std::string> values;
    append_labels(row, values);
    CHECK(values.size() == (row.family ? row.family->labels.count - 2 : 0));
    for (const std::string& one : values) CHECK(std::regex_match(one, std::regex("[a-z0-9_]+")));
    if (row.family) {
      CHECK_FALSE(row.shape.gauge);
      CHECK(row.family->type == MetricType::counter);
      CHECK(std::ranges::find(vocabulary_metrics(), row.family) != vocabulary_metrics().end());
      CHECK_FALSE(is_pattern(row.counter));
      CHECK(row.family->name.ends_with("_bytes_total") == (row.unit == Unit::bytes || row.unit == Unit::words));
    }
  });
}

TEST_CASE("the tables: no family is fed twice, but by parts that add up", "[collectors.vocabulary]") {
  for (const DriverTable* table : driver_tables()) {
    std::map<std::pair<const MetricDef*, std::string_view>, std::vector<const CounterRow*>> fed;
    for (const CounterRow& row : table->rows) {
      if (row.family) fed[{row.family, row.label}].push_back(&row);
    }
    for (const auto& [series, rows] : fed) {
      for (const CounterRow* row : rows) {
        INFO(table->driver << " " << row->counter);
        CHECK(row->summed == (rows.size() > 1));
      }
    }
  }
}

TEST_CASE("the tables: a pattern leaves something to every pattern behind it", "[collectors.vocabulary]") {
  for (const DriverTable* table : driver_tables()) {
    std::vector<std::string> before;
    for (const CounterRow& row : table->rows) {
      if (!is_pattern(row.counter)) continue;
      const std::string name(row.counter);
      for (const std::string& other : before) {
        INFO(table->driver << " " << other << " " << name);
        const bool prefixes = other.ends_with('*') && name.ends_with('*'), suffixes = other.starts_with('*') && name.starts_with('*');
        CHECK_FALSE((prefixes && name.starts_with(other.substr(0, other.size() - 1))));
        CHECK_FALSE((suffixes && name.ends_with(other.substr(1))));
      }
      before.push_back(name);
    }
  }
}

TEST_CASE("every row is found by each of its names", "[collectors.vocabulary]") {
  const std::map<std::string_view, const char*> links{{"bnxt_re", "bnxt_en"}, {"irdma", "ice"},      {"hns", "hns3"},
                                                      {"mlx4", "mlx4_core"},  {"mlx5", "mlx5_core"}, {"rxe", "rdma_rxe"}};
  each_row([&](const DriverTable& table, const CounterRow& row) {
    const auto link = links.find(table.driver);
    const std::string driver(link == links.end() ? table.driver : link->second);
    for (std::string name : names_of(row)) {
      std::ranges::replace(name, '*', '7');
      INFO(driver << " " << name);
      CHECK((table.driver == "counters" ? port_counter_row(name) : hw_counter_row(driver, name)) == &row);
    }
  });
}

TEST_CASE("a counter that was renamed is the same", "[collectors.vocabulary]") {
  CHECK(hw_counter_meaning("bnxt_en", "to_retransmits") == hw_counter_meaning("bnxt_en", "local_ack_timeout_err"));
  CHECK(hw_counter_meaning("bnxt_en", "to_retransmits")->label == "ack_timeout");
  CHECK(hw_counter_meaning("ice", "tcpRetransSegs") == hw_counter_meaning("ice", "RetransSegs"));
  CHECK(hw_counter_meaning("i40e", "ip4InOctets") == hw_counter_meaning("ice", "ip4InOctets"));
  CHECK(hw_counter_meaning("idpf", "Nak Sequence Error Implied")->label == "implied_nak");
}

TEST_CASE("totals beside their parts, and what is counted twice, have no family", "[collectors.vocabulary]") {
  const std::pair<const char*, const char*> raw[] = {{"mlx5_core", "req_cqe_error"},
                                                     {"mlx5_core", "cc_rx_ce_pkts"},
                                                     {"mlx5_core", "rdma_tx_bytes"},
                                                     {"hns3", "rx_rc_pkt"},
                                                     {"bnxt_en", "rx_roce_good_bytes"},
                                                     {"bnxt_en", "resp_remote_access_errors"},
                                                     {"hfi1", "TxPkt"},
                                                     {"rdma_rxe", "completer_retry_err"},
                                                     {"efa", "send_bytes"}};
  for (const auto& [driver, counter] : raw) {
    INFO(driver << " " << counter);
    CHECK(hw_counter_row(driver, counter));
    CHECK_FALSE(hw_counter_meaning(driver, counter));
  }
}

TEST_CASE("counters/ feed what the driver's own counters do not", "[collectors.vocabulary]") {
  CHECK(port_counter_meaning("mlx5_core", "port_rcv_data")->family == &kRxBytes);
  CHECK(port_counter_meaning("hfi1", "port_rcv_packets")->family == &kRxPackets);
  CHECK(port_counter_meaning("", "port_xmit_data")->scale() == 4);
  CHECK_FALSE(port_counter_meaning("bnxt_en", "port_rcv_data"));
  CHECK_FALSE(port_counter_meaning("mlx5_core", "symbol_error"));
}

TEST_CASE("a representor shows another function's counters: no tenant's here", "[collectors.vocabulary]") {
  CHECK(hw_counter_meaning("mlx5_core", "vport_packet_seq_err") == hw_counter_meaning("mlx5_core", "packet_seq_err"));
  CHECK_FALSE(hw_counter_meaning("mlx5_core", "vport_np_cnp_sent"));  // Q counters alone
  CHECK(hw_counter_row("mlx5_core", "vport_anything")->counter == "vport_*");
  CHECK_FALSE(counter_meaning("mlx5_core", {"hw_counters", "vport_packet_seq_err"}));
  CHECK(counter_meaning("mlx5_core", {"hw_counters", "packet_seq_err"}));
  CHECK_FALSE(hw_counter_row("ice", "vport_packet_seq_err"));
}

TEST_CASE("names that nobody has heard of", "[collectors.vocabulary]") {
  for (const char* name : {"", "*", "vport_", ",32", "new", "\xff"}) {
    INFO(name);
    CHECK_FALSE(hw_counter_row("rdma_rxe", name));
    CHECK_FALSE(hw_counter_row("", name));
    CHECK_FALSE(port_counter_row(name));
  }
}
