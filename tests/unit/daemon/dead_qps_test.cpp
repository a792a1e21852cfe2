// SPDX-License-Identifier: Apache-2.0
#include "dead_qps.h"

#include <catch2/catch.hpp>
#include <vector>

#include "support/fake_clock.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

DeadQp dead(const std::string& device = "mlx5_0") {
  return {.device = device,
          .before = {.key = {kDev, {1}}, .qpn = {123}, .type = QpType::rc, .state = QpState::rts, .port = {1}, .owner = owner_of_thread(42), .changed = {10 * kSecond}},
          .tenant = {"ml", "train"},
          .asked = {130 * kSecond},
          .suspected = {}};
}

struct Log {
  FakeClock clock;
  std::vector<std::string> lines;
  DeadQps dead_qps{clock.fn(), [this](std::string_view line) { lines.emplace_back(line); }};
};

}  // namespace

TEST_CASE("a line says whose it was, who the peer is and how long it had lived", "[daemon.dead_qps]") {
  DeadQp one = dead();
  CHECK(describe(one) == "mlx5_0 port 1: RC queue pair 123 of ml/train, pid 42 (job): is in ERR and no call moved it there, after 120.0 s in RTS");
  one.before.remote_qpn = Qpn{99};
  one.before.remote_gid = parse_gid("fe80:0000:0000:0000:0e42:a1ff:fe00:0001");
  one.suspected = BootTime{129 * kSecond};
  CHECK(describe(one) ==
        "mlx5_0 port 1: RC queue pair 123 of ml/train, pid 42 (job), peer gid fe80:0000:0000:0000:0e42:a1ff:fe00:0001 qpn 99: is in ERR and no call "
        "moved it there, after 120.0 s in RTS; asked 1.0 s after completion errors grew");
  one.before.remote_gid.reset();
  one.before.remote_lid = 7;
  one.calls_seen = false;
  CHECK(describe(one).find(", peer lid 7 qpn 99: is in ERR, after 120.0 s in RTS;") != std::string::npos);
}

TEST_CASE("a hostile name stays in its line", "[daemon.dead_qps]") {
  DeadQp one = dead();
  Owner owner = *one.before.owner;
  owner.comm = "x\n<3>all is well\x1b[2J";
  one.before.owner = std::make_shared<const Owner>(owner);
  one.tenant.workload = "a\nb";
  const std::string line = describe(one);
  CHECK(line.find('\n') == std::string::npos);
  CHECK(line.find('\x1b') == std::string::npos);
}

TEST_CASE("at most 20 lines a minute of a device, and the rest in one", "[daemon.dead_qps]") {
  Log log;
  for (int i = 0; i < 500; ++i) {
    log.dead_qps.tell(dead());
    log.dead_qps.sum_up();
  }
  CHECK(log.lines.size() == 20);
  log.dead_qps.tell(dead("mlx5_1"));
  CHECK(log.lines.size() == 21);
  log.clock.pass(59);
  log.dead_qps.sum_up();
  CHECK(log.lines.size() == 21);
  log.clock.pass(2);
  log.dead_qps.sum_up();
  REQUIRE(log.lines.size() == 22);
  CHECK(log.lines.back().starts_with("mlx5_0: 480 more queue pairs"));
  log.dead_qps.tell(dead());
  CHECK(log.lines.size() == 23);
  log.clock.pass(61);
  log.dead_qps.sum_up();
  CHECK(log.lines.size() == 23);
}
