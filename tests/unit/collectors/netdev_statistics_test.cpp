// SPDX-License-Identifier: Apache-2.0
// The collector over a made host: what becomes of statistics that come, go, move, fail, and are those of several netdevs.
#include <catch2/catch.hpp>
#include <map>

#include "collectors/registry.h"
#include "support/fake_ethtool.h"
#include "support/fake_host.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

const std::string kNet = "sys/class/net/";

struct Bench {
  Site site;
  FakeEthtool fake;
  Host host{.root = site.root, .ethtool = [this] { return fake.ethtool(); }, .dcb = [this] { return fake.dcb(); }};
  ClockFn now = site.clock.fn();
  ReadErrors errors;
  CounterLedger ledger;
  std::unique_ptr<Collector> collector;
  std::map<std::string, double> page;  // of the last pass; "family,label,label"
  std::vector<std::string> notes;
  std::uint64_t commands = 0;
  double rest = 0;
  std::size_t troubles = 0;

  explicit Bench(const std::string& driver = "mlx5_core") {
    add_device(site.tree);
    site.tree.file("sys/devices/0000:3b:00.0/vendor", "0x15b3\n");
    site.tree.link("sys/devices/0000:3b:00.0/driver", "../" + driver);
    site.tree.link(kDevice + "/device", "../../../devices/0000:3b:00.0");
    port_has("eth0");
    netdev("eth0");
  }
  void port_has(const std::string& netdev) const { site.tree.file(kDevice + "/ports/1/gid_attrs/ndevs/0", netdev + "\n"); }
  void netdev(const std::string& name, int ifindex = 1) const { site.tree.file(kNet + name + "/ifindex", std::to_string(ifindex) + "\n"); }
  void bond(const std::vector<std::string>& members) const {
    netdev("bond0", 9);
    std::filesystem::remove_all(site.tree.at(kNet + "bond0"));
    netdev("bond0", 9);
    for (const std::string& one : members) {
      netdev(one);
      site.tree.link(kNet + "bond0/lower_" + one, "../" + one);
    }
    port_has("bond0");
  }
  void pass(double seconds = 15) {
    if (!collector) collector = kNetdevStatistics.make(host, "mlx5_0");
    site.clock.pass(seconds);
    Reading reading{.samples = {}, .errors = errors, .ledger = ledger, .now = now};
    REQUIRE(collector->collect(reading));
    page.clear();
    for (const Sample& one : reading.samples) {
      std::string key(one.def->name.substr(8));
      for (const std::string_view label : one.labels) {
        if (label != "mlx5_0") key += "," + std::string(label);
      }
      CHECK(page.emplace(key, std::get<double>(one.value)).second);  // no series twice
      CHECK(one.labels.size() == one.def->labels.count);
    }
    notes = reading.notes;
    commands = reading.firmware_commands;
    rest = reading.rest;
    troubles = reading.troubles;
  }
  // Before the restart what was counted is saved, as by the sampler.
  void restart() {
    ledger = CounterLedger(ledger.image());
    collector.reset();
  }
  std::optional<double> shown(const std::string& key) const {
    const auto found = page.find(key);
    return found == page.end() ? std::nullopt : std::optional(found->second);
  }
  std::uint64_t resets() const {
    std::uint64_t out = 0;
    for (const auto& [port, faults] : ledger.image().ports) out += faults.resets + faults.gaps;
    return out;
  }
};

}  // namespace

TEST_CASE("netdev statistics: families, units, what it costs", "[collectors.netdev_statistics]") {
  Bench bench;
  bench.fake.statistics["eth0"] = {{"rx_packets", 5}, {"rx_prio3_pause", 7}, {"rx_prio3_pause_duration", 2'500'000}, {"rx_prio0_buf_discard", 1}, {"rx_prio5_buf_discard", 2},
                                   {"outbound_pci_stalled_wr", 25}, {"tx_pci_signal_integrity", 3}, {"rx_vport_rdma_unicast_bytes", 898343087410932}};
  bench.pass();
  CHECK(bench.shown("port_rx_pfc_frames_total,1,3") == 7);
  CHECK(bench.shown("port_rx_pfc_pause_seconds_total,1,3") == 2.5);
  CHECK(bench.shown("port_rx_discards_total,1,host_buffer") == 3);
  CHECK(bench.shown("device_pcie_write_stalled_ratio") == 0.25);
  CHECK(bench.shown("device_pcie_tx_signal_integrity_errors_total") == 3);
  CHECK(bench.shown("port_vport_rdma_rx_bytes_total,1") == 898343087410932);
  CHECK(bench.shown("port_netdev_info,1,eth0,,mlx5_core,physical") == 1);
  CHECK(bench.page.size() == 7);  // what is not in the table is not shown, and nothing that is not there is zero
  CHECK(bench.commands == 43 + 1);
  bench.pass();
  CHECK(bench.commands == 43);  // a driver without DCB is asked once
  CHECK(bench.rest == 0);
}

TEST_CASE("netdev statistics: PFC moved from one priority to another and back", "[collectors.netdev_statistics]") {
  Bench bench;
  std::uint64_t three = 1000, four = 5'000'000;
  const auto on = [&](int priority) {
    three += 10;
    four += 100;  // the card counts both, whichever is listed
    bench.fake.statistics["eth0"] = {{"rx_prio" + std::to_string(priority) + "_pause", priority == 3 ? three : four}};
    bench.pass();
    CHECK(bench.shown("port_rx_pfc_frames_total,1,3") == (priority == 3 ? std::optional(static_cast<double>(three)) : std::nullopt));
    CHECK(bench.shown("port_rx_pfc_frames_total,1,4") == (priority == 4 ? std::optional(static_cast<double>(four)) : std::nullopt));
  };
  for (const int priority : {3, 3, 4, 4, 3, 4, 3}) on(priority);
  bench.restart();
  for (const int priority : {4, 3}) on(priority);
  CHECK(bench.resets() == 0);
}

TEST_CASE("netdev statistics: a reset adds nothing", "[collectors.netdev_statistics]") {
  Bench bench;
  for (const auto& [raw, total] : {std::pair(100, 100), std::pair(3, 100), std::pair(3, 100), std::pair(8, 105)}) {
    bench.fake.statistics["eth0"] = {{"rx_discards_phy", raw}};
    bench.pass();
    CHECK(bench.shown("port_rx_discards_total,1,buffer") == total);
  }
  CHECK(bench.resets() == 1);
}

TEST_CASE("netdev statistics: the sum over a bond never falls", "[collectors.netdev_statistics]") {
  Bench bench;
  bench.bond({"eth0", "eth1"});
  bench.fake.statistics["eth0"] = {{"rx_discards_phy", 100}, {"rx_pci_signal_integrity", 5}};
  bench.fake.statistics["eth1"] = {{"rx_discards_phy", 7}, {"rx_pci_signal_integrity", 5}};
  bench.pass();
  CHECK(bench.shown("port_rx_discards_total,1,buffer") == 107);
  CHECK(bench.shown("port_netdev_statistics_total,1,eth0,rx_discards_phy") == 100);
  CHECK(bench.shown("port_netdev_statistics_total,1,eth1,rx_discards_phy") == 7);
  CHECK(bench.shown("device_pcie_rx_signal_integrity_errors_total") == 5);  // of one function
  CHECK(bench.shown("port_netdev_info,1,eth1,bond0,mlx5_core,physical") == 1);
  CHECK(std::ranges::count_if(bench.notes, [](const std::string& note) { return note.contains("bond0 has no statistics"); }) > 0);

  bench.fake.failing.insert_or_assign("eth1", io_error("eth1", EIO));
  bench.fake.statistics["eth0"] = {{"rx_discards_phy", 110}};
  bench.pass();
  CHECK_FALSE(bench.shown("port_rx_discards_total,1,buffer"));  // with a part missing there is no sum
  CHECK(bench.shown("port_netdev_statistics_total,1,eth0,rx_discards_phy") == 110);
  CHECK(bench.errors.counts().at({"ethtool", "EIO"}) == 1);
  bench.pass(0.1);
  CHECK(bench.errors.counts().at({"ethtool", "EIO"}) == 1);  // not tried, but still in trouble
  CHECK(bench.troubles == 1);
  bench.fake.failing.clear();

  bench.restart();
  bench.pass();
  CHECK(bench.shown("port_rx_discards_total,1,buffer") == 117);
  bench.bond({"eth0"});
  bench.fake.statistics["eth0"] = {{"rx_discards_phy", 111}};
  bench.pass();
  CHECK(bench.shown("port_rx_discards_total,1,buffer") == 118);
  CHECK_FALSE(bench.shown("port_netdev_statistics_total,1,eth0,rx_discards_phy"));
  bench.bond({"eth0", "eth1"});
  bench.fake.statistics["eth1"] = {{"rx_discards_phy", 9}};
  bench.pass();
  CHECK(bench.shown("port_rx_discards_total,1,buffer") == 120);
  CHECK(bench.resets() == 0);
}

TEST_CASE("netdev statistics: a virtual function tells of itself alone", "[collectors.netdev_statistics]") {
  Bench bench;
  bench.site.tree.folder("sys/devices/0000:3b:00.0/physfn");
  bench.fake.statistics["eth0"] = {{"rx_prio3_pause", 0}, {"rx_discards_phy", 0}, {"rx_vport_rdma_unicast_bytes", 5}};
  bench.fake.pfc["eth0"] = {};
  bench.pass();
  CHECK(bench.shown("port_vport_rdma_rx_bytes_total,1") == 5);
  CHECK(bench.page.size() == 2);
  CHECK(bench.fake.asked_pfc.empty());
}

TEST_CASE("netdev statistics: a representor is not asked", "[collectors.netdev_statistics]") {
  Bench bench;
  bench.site.tree.file(kNet + "eth0/phys_port_name", "pf0vf1\n");
  bench.fake.drivers["eth0"] = "mlx5e_rep";
  bench.fake.statistics["eth0"] = {{"rx_discards_phy", 5}};
  bench.pass();
  bench.pass();
  CHECK(bench.page == std::map<std::string, double>{{"port_netdev_info,1,eth0,,mlx5e_rep,pcivf", 1}});
  CHECK(bench.fake.asked.empty());
}

TEST_CASE("netdev statistics: a driver that lists every priority", "[collectors.netdev_statistics]") {
  Bench bench("bnxt_en");
  bench.fake.drivers["eth0"] = "bnxt_en";
  const auto frames = [&](std::uint64_t three) {
    bench.fake.statistics["eth0"] = {{"rx_pfc_ena_frames_pri2", 0}, {"rx_pfc_ena_frames_pri3", three}, {"tx_pfc_ena_frames_pri3", 0}, {"rx_pfc_ena_frames_pri4", 0}};
    bench.pass();
  };
  frames(0);
  CHECK_FALSE(bench.shown("port_rx_pfc_frames_total,1,3"));
  frames(6434);
  CHECK(bench.shown("port_rx_pfc_frames_total,1,3") == 6434);
  CHECK(bench.shown("port_tx_pfc_frames_total,1,3") == 0);  // the priority is in use
  CHECK_FALSE(bench.shown("port_rx_pfc_frames_total,1,4"));
  frames(0);
  frames(0);
  CHECK(bench.shown("port_rx_pfc_frames_total,1,3") == 6434);  // it began anew, its total did not
  bench.restart();
  bench.fake.pfc["eth0"] = {.enabled = 0x10};
  frames(0);
  CHECK(bench.shown("port_rx_pfc_frames_total,1,4") == 0);  // on, and nothing came yet
  CHECK(bench.shown("port_pfc_enabled,1,4") == 1);
  CHECK(bench.shown("port_pfc_enabled,1,3") == 0);
  CHECK_FALSE(bench.shown("port_rx_pfc_frames_total,1,2"));
}

TEST_CASE("netdev statistics: DCB counts where there is no table, and only there", "[collectors.netdev_statistics]") {
  Bench bench("qede");
  bench.fake.drivers["eth0"] = "qede";
  bench.fake.statistics["eth0"] = {{"rx_prio3_pause", 5}};
  bench.fake.pfc["eth0"] = {.enabled = 0x18, .sent = {0, 0, 0, 12}, .received = {0, 0, 0, 34}};
  bench.pass();
  CHECK(bench.shown("port_tx_pfc_frames_total,1,3") == 12);
  CHECK(bench.shown("port_rx_pfc_frames_total,1,3") == 34);
  CHECK_FALSE(bench.shown("port_rx_pfc_frames_total,1,4"));  // 0 may mean that nobody counts
  CHECK(bench.fake.asked.empty());
  Bench table;
  table.fake.statistics["eth0"] = {{"rx_prio3_pause", 5}};
  table.fake.pfc = bench.fake.pfc;
  table.pass();
  CHECK(table.shown("port_rx_pfc_frames_total,1,3") == 5);
  CHECK_FALSE(table.shown("port_tx_pfc_frames_total,1,3"));
}

TEST_CASE("netdev statistics: PFC of a bond is on where it is on everywhere", "[collectors.netdev_statistics]") {
  Bench bench;
  bench.bond({"eth0", "eth1"});
  for (const char* name : {"eth0", "eth1"}) bench.fake.statistics[name] = {{"rx_discards_phy", 1}};
  bench.fake.pfc["eth0"] = {.enabled = 0x18};
  bench.fake.pfc["eth1"] = {.enabled = 0x08};
  bench.pass();
  CHECK(bench.shown("port_pfc_enabled,1,3") == 1);
  CHECK(bench.shown("port_pfc_enabled,1,4") == 0);
}

TEST_CASE("netdev statistics: none is said once, and not asked for again", "[collectors.netdev_statistics]") {
  Bench bench;
  bench.pass();
  CHECK(bench.notes == std::vector<std::string>{"eth0 has no statistics (ethtool -S)"});
  CHECK(bench.troubles == 0);
  bench.pass();
  CHECK(bench.notes.empty());
  CHECK(bench.fake.asked["eth0"] == 1);
  bench.netdev("eth0", 2);  // another netdev under that name
  bench.fake.statistics["eth0"] = {{"rx_discards_phy", 1}};
  bench.pass();
  CHECK(bench.shown("port_rx_discards_total,1,buffer") == 1);
}

TEST_CASE("netdev statistics: a slow pass is made less often", "[collectors.netdev_statistics]") {
  Bench bench;
  bench.fake.statistics["eth0"] = {{"rx_discards_phy", 1}};
  double takes = 0.05;
  bench.fake.meanwhile = [&] { bench.site.clock.pass(takes); };
  bench.pass();
  CHECK(bench.rest == 0);
  takes = 0.3;
  bench.pass();
  CHECK(bench.rest == Approx(30));
  takes = 30;
  bench.pass();
  CHECK(bench.rest == 600);
  takes = 0;
  bench.pass();
  CHECK(bench.rest == 0);
}

TEST_CASE("netdev statistics: 9,000 of them, hostile ones too", "[collectors.netdev_statistics]") {
  Bench bench;
  Statistics many;
  for (int i = 0; i < 9000; ++i) many.emplace_back("rx" + std::to_string(i) + "_\xff\"\n\\", 1);
  many.emplace_back("rx_discards_phy", 5);
  many.emplace_back("rx_discards_phy", 6);  // twice: one counter that rose
  bench.fake.statistics["eth0"] = many;
  bench.pass();
  CHECK(bench.shown("port_rx_discards_total,1,buffer") == 6);
  CHECK(bench.page.size() == 2);
}

TEST_CASE("netdev statistics: without anybody to ask there is still a netdev", "[collectors.netdev_statistics]") {
  Bench bench;
  bench.host.ethtool = {};
  bench.host.dcb = {};
  bench.pass();
  CHECK(bench.page == std::map<std::string, double>{{"port_netdev_info,1,eth0,,mlx5_core,physical", 1}});
}
