// SPDX-License-Identifier: Apache-2.0
#include "exporters/cli/findings.h"

#include <catch2/catch.hpp>

using namespace qpscope::cli;

namespace {

const Json kWell = Json::parse(R"({"age_seconds": 0.5, "data": {"ready": true, "queue_pairs": {"total": 3, "by_state": {"RTS": 3}}, "troubles": []}})");

Json ports(const char* state, int queue_pairs, double rx, double retransmits, double paused) {
  const auto list = [](double value) { return Json::array({nullptr, value, value}); };
  return {{"data", {{"interval_seconds", 2}, {"ports", {{{"device", "mlx5_0"}, {"port", 1}, {"state", state}, {"queue_pairs", queue_pairs},
           {"history", {{"rx_bytes", list(rx)}, {"retransmits", list(retransmits)}, {"rx_pause_seconds", list(paused)}}}}}}}}};
}
const Json kQuiet = ports("ACTIVE", 3, 1e9, 0, 0);

std::vector<std::string> of(const Json& status, const Json& all_ports) {
  std::vector<std::string> out;
  for (const Finding& one : findings(status, all_ports)) out.push_back((one.error ? "error " : "warning ") + one.where + ": " + one.what);
  return out;
}
using List = std::vector<std::string>;

}  // namespace

TEST_CASE("where all is well nothing is found", "[exporters.cli.findings]") {
  CHECK(of(kWell, kQuiet).empty());
  CHECK(of(kWell, ports("DOWN", 0, 0, 0, 0)).empty());        // nobody uses it
  CHECK(of(kWell, ports("ACTIVE", 3, 1, 0.5, 0.05)).empty());  // a lost packet now and then, a short pause
}

TEST_CASE("a port that is used and not active", "[exporters.cli.findings]") {
  CHECK(of(kWell, ports("DOWN", 3, 0, 0, 0)) == List{"error mlx5_0/1: is DOWN"});
  CHECK(of(kWell, ports("INIT", 0, 7, 0, 0)) == List{"error mlx5_0/1: is INIT"});
}

TEST_CASE("loss and pause of the last minute", "[exporters.cli.findings]") {
  CHECK(of(kWell, ports("ACTIVE", 3, 1, 12.5, 0.25)) ==
        List{"warning mlx5_0/1: retransmits: 12.5/s in the last minute", "warning mlx5_0/1: paused by the network for 25 % of the last minute"});
}

TEST_CASE("dead queue pairs, errors before warnings", "[exporters.cli.findings]") {
  Json status = kWell;
  status["data"]["queue_pairs"] = {{"total", 9}, {"by_state", {{"SQE", 1}, {"ERR", 2}}}};
  status["data"]["troubles"] = {{{"severity", "warning"}, {"what", "probes are\noff"}}, {{"severity", "error"}, {"device", "mlx5_1"}, {"what", "stale"}}, 7};
  CHECK(of(status, kQuiet) == List{"error mlx5_1: stale", "error : 2 of 9 queue pairs in ERR: qpscope qps --state ERR", "warning : probes are\\x0aoff",
                                   "warning : something that has no words", "warning : 1 of 9 queue pairs in SQE: qpscope qps --state SQE"});
}

TEST_CASE("an old picture and one that is not complete", "[exporters.cli.findings]") {
  Json status = kWell;
  status["age_seconds"] = 95;
  status["data"]["ready"] = false;
  CHECK(of(status, kQuiet) == List{"error : qpscoped looked at this host 1m35s ago", "warning : qpscoped has not seen everything yet: it is not ready"});
}

TEST_CASE("no answer at all is no crash", "[exporters.cli.findings]") {
  for (const Json& odd : {Json(), Json(1), Json::array({1}), Json{{"data", 1}}, Json{{"data", {{"ports", 7}, {"troubles", "x"}, {"queue_pairs", {1}}}}}}) findings(odd, odd);
}
