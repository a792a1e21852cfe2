// SPDX-License-Identifier: Apache-2.0
#include "exporters/api/status.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "exporters/api/probes.h"
#include "support/api_answer.h"
#include "support/fake_clock.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;
using nlohmann::json;

TEST_CASE("a status of which everything is known", "[exporters.status]") {
  auto snapshot = snapshot_of({}, {{.key = {kDev, {1}}, .state = QpState::rts, .tenant = 1}, {.key = {kDev, {2}}, .state = QpState::err}, {.key = {kDev, {3}}}},
                              {{"unknown", "unknown"}, {"a", "b"}}, {{kDev, "mlx5_0"}});
  snapshot->at = {100 * kSecond};
  snapshot->status = std::make_shared<const Status>(Status{.version = "1", .host = "node\x1b", .kernel = "6.12", .started = {90 * kSecond}, .devices_found = 1,
                                                           .devices_expected = 2, .bpf = true, .bpf_reason = {}, .probes = {}, .events = {{"qp_created", 7}, {"qp_modified", 3}},
                                                           .losses = {.ring_full = 2, .decode = 1}, .cpu_seconds = 12.34567, .bpf_seconds = 0.25, .resident_bytes = 1 << 20,
                                                           .firmware_commands = std::uint64_t{1} << 60, .troubles = {{Severity::error, "mlx5_0\n", "a: b\nc"}, {Severity::warning, "", "d"}}});
  CHECK(json::parse(status_json(*snapshot, {.ready = true, .series = 1212})) ==
        json{{"version", "1"}, {"host", "node\\x1b"}, {"kernel", "6.12"}, {"ready", true}, {"uptime_seconds", 10.0}, {"devices", {{"found", 1}, {"expected", 2}}},
             {"queue_pairs", {{"total", 3}, {"by_state", {{"RTS", 1}, {"ERR", 1}}}}}, {"tenants", 2}, {"series", 1212},
             {"bpf", {{"on", true}, {"events", "10"}, {"lost", "3"}}},
             {"cost", {{"cpu_seconds", 12.346}, {"resident_bytes", 1048576}, {"bpf_seconds", 0.25}, {"firmware_commands", "1152921504606846976"}}},
             {"troubles", {{{"severity", "error"}, {"device", "mlx5_0\\x0a"}, {"what", "a: b\\x0ac"}}, {{"severity", "warning"}, {"what", "d"}}}}});
}

TEST_CASE("a status of which little is known", "[exporters.status]") {
  auto snapshot = snapshot_of({});
  snapshot->status = std::make_shared<const Status>(Status{.version = "1", .host = {}, .kernel = {}, .started = {}, .devices_expected = {}, .bpf_reason = "off\x1b", .probes = {},
                                                           .events = {}, .losses = {}, .troubles = {}});
  CHECK(json::parse(status_json(*snapshot, {})) ==
        json{{"version", "1"}, {"ready", false}, {"uptime_seconds", 0.0}, {"devices", {{"found", 0}}}, {"bpf", {{"on", false}, {"reason", "off\\x1b"}, {"events", "0"}, {"lost", "0"}}},
             {"cost", json::object()}, {"troubles", json::array()}});
}

TEST_CASE("probes", "[exporters.status]") {
  Status status;
  status.bpf = true;
  status.events = {{"qp_created", 7}};
  status.losses.recursion = 2;
  status.probes = {{.probe = "qp_create", .feature = "qp", .how = "fexit", .reason = {}, .attached = true, .runs = 123, .missed = 0, .run_seconds = 0.01},
                   {.probe = "devx_create", .feature = "devx", .how = "off", .reason = "mlx5_ib is not loaded\n", .waiting = true, .runs = {}, .missed = {}, .run_seconds = {}}};
  CHECK(json::parse(probes_json(status)) ==
        json{{"bpf", {{"on", true}}},
             {"probes",
              {{{"probe", "qp_create"}, {"feature", "qp"}, {"how", "fexit"}, {"attached", true}, {"runs", "123"}, {"run_seconds", 0.01}, {"missed", "0"}},
               {{"probe", "devx_create"}, {"feature", "devx"}, {"how", "off"}, {"attached", false}, {"waiting", true}, {"reason", "mlx5_ib is not loaded\\x0a"}}}},
             {"events", {{"received", {{"qp_created", "7"}}}, {"lost", {{"ring_full", "0"}, {"recursion", "2"}, {"kretprobe_missed", "0"}, {"decode", "0"}}}}}});
}
