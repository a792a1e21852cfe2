// SPDX-License-Identifier: Apache-2.0
#include "exporters/series_limit.h"

#include <catch2/catch.hpp>
#include <map>

#include "collectors/registry.h"
#include "exporters/pages.h"
#include "store.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

constexpr LabelNames kPort{"device", "port"};
constexpr MetricDef kInfo{"qpscope_device_info", MetricType::gauge, "A device (test).", LabelNames{"device", "function"}};
constexpr MetricDef kRaw{"qpscope_hw_counters_total", MetricType::counter, "A counter (test).", kPort.with("counter")};
constexpr MetricDef kRawPort{"qpscope_port_counters_total", MetricType::counter, "A counter (test).", kPort.with("counter")};
constexpr MetricDef kCanonical{"qpscope_port_retransmits_total", MetricType::counter, "A counter (test).", kPort.with("cause")};

// Two functions: 100 raw hardware counters, 50 raw port counters and 20 canonical ones each.
std::shared_ptr<Snapshot> host(std::size_t queue_pairs) {
  auto snapshot = std::make_shared<Snapshot>();
  SampleList all;
  for (const char* device : {"mlx5_0", "mlx5_1"}) {
    all.push_back(sample(kInfo, {device, device == std::string("mlx5_1") ? "vf" : "pf"}, 1));
    const auto add = [&](const MetricDef& def, int count) {
      for (int n = 0; n < count; ++n) all.push_back(sample(def, {device, "1", std::to_string(n)}, 1));
    };
    add(kRaw, 100);
    add(kRawPort, 50);
    add(kCanonical, 20);
  }
  snapshot->samples.push_back(std::make_shared<const SampleList>(std::move(all)));
  std::vector<QpRecord> records;
  for (std::uint32_t n = 1; n <= queue_pairs; ++n) records.push_back({.key = {kDev, {n}}, .qpn = {n}, .state = QpState::rts, .port = {1}, .generation = n});
  records.push_back({.key = {kOtherDev, {1}}, .qpn = {1}, .type = QpType::gsi, .state = QpState::rts, .port = {1}});
  snapshot->queue_pairs = std::make_shared<const std::vector<QpRecord>>(std::move(records));
  snapshot->tenants = std::make_shared<const std::vector<Tenant>>(std::vector<Tenant>{{"unknown", "unknown"}});
  snapshot->devices =
      std::make_shared<const std::map<DeviceIndex, std::string>>(std::map<DeviceIndex, std::string>{{kDev, "mlx5_0"}, {kOtherDev, "mlx5_1"}});
  return snapshot;
}

std::map<std::string, int> on_page(std::size_t limit, std::size_t queue_pairs = 100) {
  SnapshotStore store;
  Pages pages(store, {.qp_limit = 100, .series_limit = limit, .ready = [] { return true; }, .api = {.wall_minus_boot = [] { return 0.0; }, .now = [] { return BootTime{}; }, .actions = {}}});
  const std::string text = pages.metrics(*host(queue_pairs));
  std::map<std::string, int> out;
  int all = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    if (text[at] == '#') continue;
    ++all;
    const std::string line = text.substr(at, text.find('\n', at) - at);
    ++out[line.substr(0, line.find_first_of("{ "))];
    if (line.starts_with("qpscope_hw_counters_total{device=\"mlx5_1\"")) ++out["idle"];
  }
  out["all"] = all;
  return out;
}

}  // namespace

TEST_CASE("below the limit nothing is left out; 0 is no limit", "[exporters.series_limit]") {
  for (const std::size_t limit : {5000, 0}) {
    auto page = on_page(limit);
    CHECK(page["qpscope_qp_info"] == 100);
    CHECK(page["all"] == 2 + 340 + 3 * 100 + 1);
    CHECK(page["qpscope_series_dropped_total"] == 0);
  }
}

TEST_CASE("what is left out, in which order: queue pairs, idle virtual functions, raw counters; never the port families", "[exporters.series_limit]") {
  auto page = on_page(500);
  CHECK(page["all"] <= 500);
  CHECK(page["qpscope_qp_info"] > 40);
  CHECK(page["qpscope_qp_info"] < 100);
  CHECK(page["qpscope_qp_state"] == page["qpscope_qp_info"]);
  CHECK(page["qpscope_hw_counters_total"] == 200);
  CHECK(page["qpscope_series_dropped_total"] == 3);

  page = on_page(330);
  CHECK(page["all"] <= 330);
  CHECK(page["idle"] == 0);
  CHECK(page["qpscope_hw_counters_total"] == 100);
  CHECK(page["qpscope_port_counters_total"] == 50);
  CHECK(page["qpscope_qp_info"] > 0);  // what is left

  page = on_page(160);
  CHECK(page["all"] <= 160);
  CHECK(page["qpscope_port_counters_total"] == 0);
  CHECK(page["qpscope_hw_counters_total"] == 100);

  page = on_page(20);
  CHECK(page["qpscope_hw_counters_total"] == 0);
  CHECK(page["qpscope_port_retransmits_total"] == 40);
  CHECK(page["qpscope_qp_info"] == 0);
}

TEST_CASE("a virtual function in use keeps its counters as long as the others", "[exporters.series_limit]") {
  const auto snapshot = host(0);
  std::vector<QpRecord> records = *snapshot->queue_pairs;
  records.push_back({.key = {kOtherDev, {2}}, .qpn = {7}, .state = QpState::rts, .port = {1}});
  snapshot->queue_pairs = std::make_shared<const std::vector<QpRecord>>(std::move(records));
  SeriesLimit limit(310);
  std::map<std::string, int> left;
  const LeftOut left_out = limit.fit(*snapshot);
  for (const auto& list : snapshot->samples) {
    for (const Sample& one : *list) left[std::string(one.def->name)] += left_out.contains(one) ? 0 : 1;
  }
  CHECK(left["qpscope_hw_counters_total"] == 200);
  CHECK(left["qpscope_port_counters_total"] == 0);
  CHECK(limit.samples().size() == 1);
  limit.fit(*snapshot);
  CHECK(std::get<double>(limit.samples()[0].value) == 200);  // of both pages
}

TEST_CASE("where there is no room for every slot, those in ERR are shown, and nobody loses a slot", "[exporters.series_limit]") {
  std::vector<QpRecord> all;
  for (std::uint32_t n = 1; n <= 50; ++n) all.push_back({.key = {kDev, {n}}, .qpn = {n}, .state = n == 40 ? QpState::err : QpState::rts, .port = {1}, .generation = n, .created = BootTime{n}});
  QpSlots slots(50);
  CHECK(slots.choose(all, {1}).size() == 50);
  CHECK(slots.choose(all, {2}, {}, 2) == std::vector<std::size_t>{0, 39});
  CHECK(slots.choose(all, {3}).size() == 50);
}

TEST_CASE("the raw families are families that there are, of a device", "[exporters.series_limit]") {
  std::map<std::string_view, std::string_view> known;  // family → its first label
  for (const CollectorRow* row : collector_rows()) {
    for (const MetricDef* def : row->metrics) known.emplace(def->name, def->labels.names[0]);
  }
  for (const std::string_view family : raw_families()) CHECK(known[family] == "device");
}
