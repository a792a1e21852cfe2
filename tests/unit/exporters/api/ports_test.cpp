// SPDX-License-Identifier: Apache-2.0
#include "exporters/api/ports.h"

#include <catch2/catch.hpp>

#include "core/port_history.h"
#include "support/api_answer.h"
#include "support/fake_clock.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;
using Catch::Contains;
using nlohmann::json;

namespace {

constexpr LabelNames kPort{"device", "port"};
constexpr MetricType kGauge = MetricType::gauge, kCounter = MetricType::counter;
constexpr MetricDef kDevice{"qpscope_device_info", kGauge, "(test).", LabelNames{"device", "driver", "fw_ver", "board_id", "node_guid", "pci_addr", "numa_node", "function"}};
constexpr MetricDef kLast{"qpscope_collector_last_success_timestamp_seconds", kGauge, "(test).", LabelNames{"collector", "device"}};
constexpr MetricDef kInfo{"qpscope_port_info", kGauge, "(test).", LabelNames{"device", "port", "netdev", "link_layer", "lid", "plane"}};
constexpr MetricDef kState{"qpscope_port_state", kGauge, "(test).", kPort};
constexpr MetricDef kPhysical{"qpscope_port_physical_state", kGauge, "(test).", kPort};
constexpr MetricDef kRate{"qpscope_port_rate_bytes_per_second", kGauge, "(test).", kPort};
constexpr MetricDef kMtu{"qpscope_port_mtu_bytes", kGauge, "(test).", kPort};
constexpr MetricDef kRx{"qpscope_port_rx_bytes_total", kCounter, "(test).", kPort};
constexpr MetricDef kRetransmits{"qpscope_port_retransmits_total", kCounter, "(test).", kPort.with("cause")};
constexpr MetricDef kErrors{"qpscope_port_completion_errors_total", kCounter, "(test).", kPort.with("role", "kind")};
constexpr MetricDef kPfc{"qpscope_port_rx_pfc_pause_seconds_total", kCounter, "(test).", kPort.with("priority")};
constexpr MetricDef kPause{"qpscope_port_rx_pause_seconds_total", kCounter, "(test).", kPort};
constexpr MetricDef kRaw{"qpscope_hw_counters_total", kCounter, "(test).", kPort.with("counter")};
constexpr MetricDef kUtilization{"qpscope_port_rx_utilization_ratio", MetricType::histogram, "(test).", kPort};

SampleList of_port(const std::string& device = "mlx5_0", const std::string& port = "1") {
  return {sample(kInfo, {device, port, "ens1", "Ethernet", "", ""}, 1), sample(kState, {device, port}, 4), sample(kPhysical, {device, port}, 5),
          sample(kRate, {device, port}, 50e9), sample(kMtu, {device, port}, 4200), sample(kRx, {device, port}, 12345678901234567.0),
          sample(kRetransmits, {device, port, "ack_timeout"}, 3), sample(kRetransmits, {device, port, "sequence_nak"}, 4),
          sample(kErrors, {device, port, "requester", "cqe"}, 1), sample(kErrors, {device, port, "responder", "cqe"}, 2),
          sample(kPfc, {device, port, "3"}, 0.25), sample(kPause, {device, port}, 1.5), sample(kRaw, {device, port, "x"}, 9)};
}

json ask(std::shared_ptr<const Snapshot> snapshot, std::string_view text = "") {
  auto query = parse_port_query(text);
  REQUIRE(query);
  return data_of(ports_response(std::move(snapshot), "{\"data\":", std::move(*query)));
}

}  // namespace

TEST_CASE("everything that is known of a port", "[exporters.ports]") {
  SampleList samples = of_port();
  samples.push_back(sample(kDevice, {"mlx5_0", "mlx5_core", "28", "MT", "", "", "0", "pf"}, 1));
  samples.push_back(sample(kLast, {"port_state", "mlx5_0"}, 1796051798.2004));
  samples.push_back(sample(kLast, {"hw_counters", "mlx5_0"}, 7));
  samples.push_back({&kUtilization, {"mlx5_0", "1"}, HistogramValue{}});
  std::vector<QpRecord> queue_pairs{{.key = {kDev, {1}}, .port = {1}}, {.key = {kDev, {2}}, .port = {1}}, {.key = {kDev, {3}}}, {.key = {kOtherDev, {3}}, .port = {1}}};
  CHECK(ask(snapshot_of(samples, queue_pairs, {{"unknown", "unknown"}}, {{kDev, "mlx5_0"}})) ==
        json{{"interval_seconds", 2},
             {"ports",
              {{{"device", "mlx5_0"}, {"port", 1}, {"driver", "mlx5_core"}, {"function", "pf"}, {"link_layer", "Ethernet"}, {"netdev", "ens1"}, {"state", "ACTIVE"},
                {"physical_state", "LinkUp"}, {"rate_bytes_per_second", 50000000000}, {"mtu_bytes", 4200}, {"queue_pairs", 2}, {"last_sample_timestamp_seconds", 1796051798.2},
                {"totals",
                 {{"rx_bytes", "12345678901234568"}, {"retransmits", "7"}, {"retransmits_by_cause", {{"ack_timeout", "3"}, {"sequence_nak", "4"}}},
                  {"completion_errors", "3"}, {"rx_pause_seconds", "1.75"}}}}}}});
}

TEST_CASE("what is not known of a port is left out, and hostile names are made safe", "[exporters.ports]") {
  const json ports = ask(snapshot_of({sample(kState, {"m\x1b", "2"}, 99), sample(kPhysical, {"m\x1b", "2"}, 0), sample(kRetransmits, {"m\x1b", "2", "c\n"}, 0),
                                      sample(kRx, {"m\x1b", ""}, 1), sample(kRx, {"m\x1b", "x"}, 1)}))["ports"];
  CHECK(ports == json{{{"device", "m\\x1b"}, {"port", 2}, {"totals", {{"retransmits", "0"}, {"retransmits_by_cause", {{"c\\x0a", "0"}}}}}}});
}

TEST_CASE("ports by device and number", "[exporters.ports]") {
  SampleList samples;
  for (const char* device : {"mlx5_0", "mlx5_1"}) {
    for (const char* port : {"1", "2", "10"}) std::ranges::move(of_port(device, port), std::back_inserter(samples));
  }
  const auto snapshot = snapshot_of(std::move(samples));
  const auto names = [&](std::string_view query) {
    std::string out;
    const json answer = ask(snapshot, query);
    for (const json& one : answer["ports"]) out += one["device"].get<std::string>() + "/" + std::to_string(one["port"].get<int>()) + " ";
    return out;
  };
  CHECK(names("") == "mlx5_0/1 mlx5_0/2 mlx5_0/10 mlx5_1/1 mlx5_1/2 mlx5_1/10 ");
  CHECK(names("device=mlx5_1&port=2&port=10") == "mlx5_1/2 mlx5_1/10 ");
  CHECK(names("port=3").empty());
  for (const char* bad : {"device=", "port=", "port=x", "history=maybe", "colour=red", "port=%"}) CHECK_FALSE(parse_port_query(bad));
}

TEST_CASE("a port's history", "[exporters.ports]") {
  const auto history = std::make_shared<PortHistory>();
  const auto snapshot = [&](double total, std::uint64_t at) {
    auto out = snapshot_of({sample(kRx, {"mlx5_0", "1"}, total), sample(kState, {"mlx5_1", "1"}, 1)});
    out->port_history = history;
    history->take(out->samples, {at * kSecond});
    return out;
  };
  snapshot(0, 11);
  snapshot(246.8024, 13);
  const auto last = snapshot(246.8024 + 2e10, 15);
  const json ports = ask(last)["ports"];
  CHECK(ports[0]["history"] == json{{"rx_bytes", {nullptr, 123.4, 1e10}}});
  CHECK(ports[1]["history"] == json::object());
  CHECK_FALSE(ask(last, "history=no")["ports"][0].contains("history"));
}

TEST_CASE("very many ports are never in memory as text", "[exporters.ports]") {
  SampleList samples;
  for (int n = 0; n < 1600; ++n) std::ranges::move(of_port("mlx5_" + std::to_string(n)), std::back_inserter(samples));
  std::size_t most = 0;
  const std::string all = whole(ports_response(snapshot_of(std::move(samples)), "{\"data\":", {}), &most);
  CHECK(json::parse(all)["data"]["ports"].size() == 1600);
  CHECK(most < 80'000);
}
