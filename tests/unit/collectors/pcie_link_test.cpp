// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <map>

#include "collectors/registry.h"
#include "support/fake_host.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

struct Bench {
  Site site;
  ClockFn now = site.clock.fn();
  ReadErrors errors;
  CounterLedger ledger;
  std::map<std::string, double> page;  // "family,label"

  Bench() {
    add_device(site.tree);
    put("driver/x", "");
  }
  void put(const std::string& file, const std::string& text) const { site.tree.file(kDevice + "/device/" + file, text); }
  void pass() {
    site.clock.pass(15);
    Reading reading{.samples = {}, .errors = errors, .ledger = ledger, .now = now};
    REQUIRE(kPcieLink.make(site.host, "mlx5_0")->collect(reading));
    CHECK(reading.firmware_commands == 0);
    page.clear();
    for (const Sample& one : reading.samples) {
      page[std::string(one.def->name.substr(15)) + (one.labels.size() > 1 ? "," + std::string(one.labels[1]) : "")] = std::get<double>(one.value);
    }
  }
};

}  // namespace

TEST_CASE("PCIe link: width and speed, and what they could be", "[collectors.pcie_link]") {
  Bench bench;
  bench.put("current_link_speed", "16.0 GT/s PCIe\n");
  bench.put("max_link_speed", "32.0 GT/s PCIe\n");
  bench.put("current_link_width", "8\n");
  bench.put("max_link_width", "16\n");
  bench.pass();
  CHECK(bench.page == std::map<std::string, double>{{"pcie_link_speed_transfers_per_second", 16e9}, {"pcie_link_max_speed_transfers_per_second", 32e9},
                                                    {"pcie_link_width_lanes", 8}, {"pcie_link_max_width_lanes", 16}});
  bench.put("current_link_speed", "2.5 GT/s\n");  // as older kernels have it
  bench.pass();
  CHECK(bench.page.at("pcie_link_speed_transfers_per_second") == 2.5e9);
}

TEST_CASE("PCIe link: what is not known is left out", "[collectors.pcie_link]") {
  Bench bench;
  bench.pass();
  CHECK(bench.page.empty());
  bench.put("current_link_speed", "Unknown speed\n");
  bench.put("max_link_speed", "Unknown\n");
  bench.put("current_link_width", "0\n");  // a virtual function's
  bench.put("max_link_width", "255\n");
  bench.pass();
  CHECK(bench.page.empty());
  CHECK(bench.errors.counts().empty());
  for (const char* bad : {"fast", "nan GT/s PCIe", "inf GT/s PCIe", "1e9 GT/s PCIe", "-8.0 GT/s PCIe", "8.0", "GT/s"}) {
    INFO(bad);
    bench.put("current_link_speed", bad);
    bench.pass();
    CHECK(bench.page.empty());
  }
  bench.put("max_link_width", "x16\n");
  bench.pass();
  CHECK(bench.errors.counts().at({"pci", "parse"}) == 9);
}

TEST_CASE("PCIe link: errors that AER logged", "[collectors.pcie_link]") {
  Bench bench;
  bench.put("aer_dev_correctable", "RxErr 3\nBadTLP 1\nBadDLLP 0\nTOTAL_ERR_COR 4\n");
  bench.put("aer_dev_nonfatal", "Undefined 0\nTOTAL_ERR_NONFATAL 0\n");
  bench.put("aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL nonsense\n");
  bench.pass();
  CHECK(bench.page == std::map<std::string, double>{{"pcie_aer_errors_total,correctable", 4}, {"pcie_aer_errors_total,nonfatal", 0}});
  CHECK(bench.errors.counts().at({"pci", "parse"}) == 1);
  bench.put("aer_dev_correctable", "TOTAL_ERR_COR 9\n");
  bench.pass();
  CHECK(bench.page.at("pcie_aer_errors_total,correctable") == 9);
}

TEST_CASE("PCIe link: soft-RoCE has none, though a kernel may give it its NIC as parent", "[collectors.pcie_link]") {
  Bench bench;
  bench.site.tree.file(kDevice + "/parent", "eth0\n");
  bench.put("current_link_width", "16\n");
  bench.pass();
  CHECK(bench.page.empty());
}
