// SPDX-License-Identifier: Apache-2.0
// Which rates are a line's: those that counters are judged by.
#include <catch2/catch.hpp>

#include "collectors/registry.h"
#include "support/fake_host.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

struct Shown {
  std::optional<double> rate, line;  // on the page, and as the ledger knows it
  friend bool operator==(const Shown&, const Shown&) = default;
};

Shown rate_of(const std::string& driver, const std::string& link_layer, const std::string& rate, const std::string& netdev_speed = "") {
  Site site;
  add_device(site.tree);
  site.tree.link(kDevice + "/device/driver", "../" + driver);
  site.tree.file(kDevice + "/ports/1/link_layer", link_layer + "\n");
  site.tree.file(kDevice + "/ports/1/rate", rate + "\n");
  site.tree.file(kDevice + "/ports/1/gid_attrs/ndevs/0", "eth0\n");
  if (!netdev_speed.empty()) site.tree.file("sys/class/net/eth0/speed", netdev_speed + "\n");
  ReadErrors errors;
  CounterLedger ledger;
  const ClockFn now = site.clock.fn();
  Reading reading{.samples = {}, .errors = errors, .ledger = ledger, .now = now};
  REQUIRE(kPortInfo.make(site.host, "mlx5_0")->collect(reading));
  Shown out;
  for (const Sample& one : reading.samples) {
    if (one.def->name == "qpscope_port_rate_bytes_per_second") out.rate = std::get<double>(one.value);
  }
  out.line = ledger.line_rate("1");
  return out;
}

}  // namespace

TEST_CASE("a made-up rate is shown, but is not the line's", "[collectors.port_info]") {
  CHECK(rate_of("mlx5_core", "Ethernet", "100 Gb/sec (4X EDR)") == Shown{1.25e10, 1.25e10});
  CHECK(rate_of("efa", "Unknown", "100 Gb/sec (4X EDR)") == Shown{1.25e10, std::nullopt});
  CHECK(rate_of("erdma", "Ethernet", "25 Gb/sec (1X EDR)") == Shown{3.125e9, 3.125e9});
  CHECK(rate_of("erdma", "Ethernet", "2.5 Gb/sec (1X SDR)") == Shown{3.125e8, std::nullopt});
  CHECK(rate_of("mlx5_core", "InfiniBand", "2.5 Gb/sec (1X SDR)") == Shown{3.125e8, 3.125e8});
}

TEST_CASE("Linux 6.1 calls every rate above 40 Gb/s 100 Gb/s: then the netdev tells", "[collectors.port_info]") {
  const std::string rate = "100 Gb/sec (4X EDR)";
  CHECK(rate_of("bnxt_en", "Ethernet", rate, "400000") == Shown{5e10, 5e10});
  CHECK(rate_of("ice", "Ethernet", rate, "50000") == Shown{6.25e9, 6.25e9});
  for (const char* unknown : {"", "-1", "0", "4294967295"}) CHECK(rate_of("ice", "Ethernet", rate, unknown) == Shown{1.25e10, 1.25e10});
  CHECK(rate_of("mlx5_core", "Ethernet", rate, "200000") == Shown{1.25e10, 1.25e10});  // of a bond
  CHECK(rate_of("bnxt_en", "Ethernet", "200 Gb/sec (4X HDR)", "400000") == Shown{2.5e10, 2.5e10});
}
