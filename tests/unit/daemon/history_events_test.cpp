// SPDX-License-Identifier: Apache-2.0
#include "history_events.h"

#include <catch2/catch.hpp>
#include <cerrno>

#include "support/fake_clock.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;

TEST_CASE("a dead queue pair as an event", "[daemon.history_events]") {
  const DeadQp dead{.device = "mlx5_0",
                    .before = {.key = {kDev, {1}}, .qpn = {123}, .type = QpType::rc, .state = QpState::rts, .port = {1}, .owner = owner_of_thread(42), .remote_qpn = Qpn{7},
                               .remote_gid = Gid{}, .changed = {10 * kSecond}},
                    .tenant = {"ml", "train"},
                    .asked = {130 * kSecond},
                    .suspected = {}};
  const HistoryEvent event = event_of(dead);
  CHECK(event.at == BootTime{130 * kSecond});
  CHECK(event.device == "mlx5_0");
  CHECK(event.port.value == 1);
  CHECK(event.qpn == Qpn{123});
  CHECK(event.remote_qpn == Qpn{7});
  CHECK(event.remote_gid == Gid{});
  CHECK((event.tenant == "ml" && event.workload == "train" && event.pid.value == 42 && event.comm == "job"));
  CHECK(event.message == describe(dead));
}

TEST_CASE("a refused call as an event", "[daemon.history_events]") {
  const HistoryEvent event = event_of(QpCallFailed{.at = {kSecond}, .device = kDev, .call = QpCallFailed::Call::modify, .error = EINVAL}, "m\n");
  CHECK(event.message == "m\\x0a: a call to modify a queue pair failed: EINVAL");
  CHECK(event.device == "m\n");
}
