// SPDX-License-Identifier: Apache-2.0
#include "exporters/api/tenants.h"

#include <catch2/catch.hpp>

#include "support/api_answer.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;
using nlohmann::json;

namespace {

constexpr LabelNames kTenant{"tenant", "workload", "device", "port", "method"};
constexpr MetricDef kRx{"qpscope_tenant_rx_bytes_total", MetricType::counter, "(test).", kTenant};
constexpr MetricDef kRetransmits{"qpscope_tenant_retransmits_total", MetricType::counter, "(test).", kTenant.with("cause")};
constexpr MetricDef kInfo{"qpscope_tenant_info", MetricType::gauge, "(test).", LabelNames{"tenant", "workload"}};

}  // namespace

TEST_CASE("tenants with queue pairs or totals", "[exporters.tenants]") {
  const std::vector<QpRecord> queue_pairs{{.key = {kDev, {1}}, .state = QpState::rts, .tenant = 1},
                                          {.key = {kDev, {2}}, .state = QpState::err, .tenant = 1},
                                          {.key = {kOtherDev, {3}}, .tenant = 1},
                                          {.key = {kDev, {4}}, .state = QpState::rts}};
  const SampleList samples{sample(kRx, {"lab\x1b", "train", "mlx5_0", "1", "set"}, 1000), sample(kRx, {"lab\x1b", "train", "mlx5_0", "1", "sole_owner"}, 5),
                           sample(kRetransmits, {"lab\x1b", "train", "mlx5_0", "1", "set", "ack_timeout"}, 2), sample(kRx, {"was", "here", "mlx5_0", "1", "set"}, 7),
                           sample(kInfo, {"idle", "idle"}, 1)};
  const auto snapshot = snapshot_of(samples, queue_pairs, {{"unknown", "unknown"}, {"lab\x1b", "train", "slurm"}, {"idle", "idle"}}, {{kDev, "mlx5_0"}, {kOtherDev, "mlx5_1"}});
  CHECK(data_of(tenants_response(snapshot, "{\"data\":"))["tenants"] ==
        json{{{"tenant", "lab\\x1b"}, {"workload", "train"}, {"kind", "slurm"}, {"queue_pairs", 3}, {"by_state", {{"RTS", 1}, {"ERR", 1}}}, {"devices", {"mlx5_0", "mlx5_1"}},
              {"ports",
               {{{"device", "mlx5_0"}, {"port", 1}, {"method", "set"}, {"totals", {{"rx_bytes", "1000"}, {"retransmits", "2"}, {"retransmits_by_cause", {{"ack_timeout", "2"}}}}}},
                {{"device", "mlx5_0"}, {"port", 1}, {"method", "sole_owner"}, {"totals", {{"rx_bytes", "5"}}}}}}},
             {{"tenant", "unknown"}, {"workload", "unknown"}, {"queue_pairs", 1}, {"by_state", {{"RTS", 1}}}, {"devices", {"mlx5_0"}}, {"ports", json::array()}},
             {{"tenant", "was"}, {"workload", "here"}, {"queue_pairs", 0}, {"by_state", json::object()}, {"devices", json::array()},
              {"ports", {{{"device", "mlx5_0"}, {"port", 1}, {"method", "set"}, {"totals", {{"rx_bytes", "7"}}}}}}}});
}

TEST_CASE("nobody there", "[exporters.tenants]") { CHECK(data_of(tenants_response(snapshot_of({}), "{\"data\":")) == json{{"tenants", json::array()}}); }
