// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>

#include "collectors/registry.h"
#include "support/fake_host.h"

using namespace qpscope;
using namespace qpscope::test;

TEST_CASE("counters/ and hw_counters with the same bytes: one canonical series", "[collectors.port_counters]") {
  Site site;
  add_device(site.tree);
  site.tree.link(kDevice + "/device/driver", "../bnxt_en");
  site.tree.file(kDevice + "/ports/1/hw_counters/tx_bytes", "400\n");
  ReadErrors errors;
  CounterLedger ledger;
  const ClockFn now = site.clock.fn();
  Reading reading{.samples = {}, .errors = errors, .ledger = ledger, .now = now};
  REQUIRE(kPortTraffic.make(site.host, "mlx5_0")->collect(reading));
  REQUIRE(kHwCounters.make(site.host, "mlx5_0")->collect(reading));
  CHECK(std::ranges::count_if(reading.samples, [](const Sample& one) { return one.def->name == "qpscope_port_tx_bytes_total"; }) == 1);
}
