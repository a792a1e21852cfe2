// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/rtnl_gate.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <optional>
#include <thread>
#include <vector>

using namespace qpscope;
using Clock = std::chrono::steady_clock;

TEST_CASE("one at a time", "[host.rtnl_gate]") {
  RtnlGate gate;
  std::atomic<int> inside = 0, most = 0, done = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto pass = gate.enter("eth0");
      if (!pass) return;
      most = std::max(most.load(), ++inside);
      std::this_thread::yield();
      --inside;
      ++done;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(most == 1);
  CHECK(done == 8);
}

TEST_CASE("nobody waits for one that is stuck", "[host.rtnl_gate]") {
  RtnlGate gate;
  std::optional<RtnlGate::Pass> stuck(gate.enter("eth0").value());
  const auto began = Clock::now();
  const auto refused = gate.enter("eth1");
  const auto waited = Clock::now() - began;
  REQUIRE_FALSE(refused);
  CHECK(refused.error().sys_errno == EBUSY);
  CHECK(refused.error().what.contains("eth0"));
  CHECK(waited >= RtnlGate::kPatience - std::chrono::milliseconds(100));
  const auto again = Clock::now();
  for (int i = 0; i < 100; ++i) CHECK_FALSE(gate.enter("eth1"));  // by now it is known
  CHECK(Clock::now() - again < RtnlGate::kPatience);
  stuck.reset();
  CHECK(gate.enter("eth1"));
}
