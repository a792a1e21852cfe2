// SPDX-License-Identifier: Apache-2.0
// Netlink or files, and what each costs: the collectors of a made host with a netlink of the test's own.
#include <catch2/catch.hpp>
#include <cerrno>
#include <map>
#include <span>

#include "collectors/registry.h"
#include "support/fake_host.h"
#include "support/fake_netlink.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

struct Bench {
  Site site;
  FakeNetlink netlink;
  Host host{.root = site.root, .live = false, .netlink = [this](const std::string&) { return netlink.line(); }};
  double step = 1e-9;  // seconds from one look at the clock to the next
  ClockFn now = [this] { return site.clock.pass(step), site.clock.now(); };
  ReadErrors errors;
  CounterLedger ledger;
  std::unique_ptr<Collector> collector;
  std::uint64_t commands = 0;                      // of the last pass
  std::map<std::string, std::optional<double>> hw;  // of the last pass, by kernel name

  explicit Bench(std::string_view driver = "mlx5_core") {
    add_device(site.tree);
    site.tree.link(kDevice + "/device/driver", "../" + std::string(driver));
    site.tree.file(kDevice + "/ports/1/hw_counters/lifespan", "10\n");
    for (const char* name : {"rx_write_requests", "a", "b", "c"}) site.tree.file(kDevice + "/ports/1/hw_counters/" + name, "1\n");
  }
  void pass(const CollectorRow& row = kHwCounters) {
    if (!collector) collector = row.make(host, "mlx5_0");
    site.clock.pass(1);
    Reading reading{.samples = {}, .errors = errors, .ledger = ledger, .now = now};
    REQUIRE(collector->collect(reading));
    commands = reading.firmware_commands;
    hw.clear();
    for (const Sample& one : reading.samples) {
      if (one.def->name == "qpscope_hw_counters_total") hw[std::string(one.labels[2])] = std::get<double>(one.value);
      if (one.def->name == "qpscope_port_state") hw["state"] = std::get<double>(one.value);
      if (one.def->name == "qpscope_port_physical_state") hw["phys_state"] = std::get<double>(one.value);
    }
  }
};

}  // namespace

TEST_CASE("hardware counters: one question to netlink instead of a read a file", "[collectors.hw_counters]") {
  Bench bench;
  bench.netlink.counters = {{"out_of_sequence", 7}, {"cc_rx_ce_pkts", 9}};  // one is in no file
  bench.pass();
  CHECK(bench.hw["out_of_sequence"] == 7);
  CHECK(bench.hw["cc_rx_ce_pkts"] == 9);
  CHECK(bench.hw.size() == 2);
  CHECK(bench.netlink.asked["port_counters"] == 1);
  CHECK(bench.commands == 3);
}

TEST_CASE("hardware counters: with sets each name asks for each of them", "[collectors.hw_counters]") {
  Bench bench;
  bench.netlink.mode.kind = NlCounterMode::Kind::manual;
  bench.netlink.count_sets(5);
  bench.netlink.counters = {{"out_of_sequence", 7}, {"a", 1}};
  bench.pass();
  CHECK(bench.commands == 3 + 5 + 2 * 5);
  bench.pass();
  CHECK(bench.commands == 3 + 2 * 5);
  bench.netlink.fail("port_counters", EMSGSIZE);
  bench.pass();
  CHECK(bench.hw["a"] == 1);
  CHECK(bench.commands == 3 + 3 + 5 * 5);  // the question, a pass, five files
}

TEST_CASE("hardware counters: while there are sets a rise waits for the next sample", "[collectors.hw_counters]") {
  Bench bench;
  const auto shows = [&](std::uint64_t raw) {
    bench.netlink.counters = {{"out_of_sequence", raw}};
    bench.pass();
    return bench.hw["out_of_sequence"];
  };
  bench.netlink.mode.kind = NlCounterMode::Kind::manual;
  CHECK(shows(100) == 100);
  CHECK(shows(140) == 100);
  bench.netlink.mode.kind = NlCounterMode::Kind::none;  // released
  CHECK(shows(110) == 110);
  bench.site.clock.pass(20);
  CHECK(shows(120) == 120);
}

TEST_CASE("hardware counters: the files where netlink has none", "[collectors.hw_counters]") {
  Bench bench;
  bench.netlink.fail("port_counters", EINVAL);
  bench.pass();
  CHECK(bench.hw["out_of_sequence"] == 7);
  CHECK(bench.hw.size() == 5);
  CHECK(bench.errors.counts().empty());
  bench.netlink.failing.clear();
  bench.pass();
  CHECK(bench.hw.size() == 1);
  bench.netlink.fail("port_counters", EIO);
  bench.pass();
  CHECK(bench.hw.empty());
  CHECK(bench.errors.counts().at({"hw_counters", "EIO"}) == 1);
}

TEST_CASE("hardware counters by files: one pass of the card serves them, unless reading takes longer than the cache lives", "[collectors.hw_counters]") {
  Bench bench;
  bench.host.netlink = nullptr;
  bench.pass();
  CHECK(bench.hw.size() == 5);
  CHECK(bench.commands == 3);
  // The clock is looked at twice a file. The cache serves the second and the third; with the fourth it may have ended; then the first is
  // read again, which serves the fifth.
  bench.step = 0.0026;
  bench.pass();
  CHECK(bench.hw.size() == 5);
  CHECK(bench.commands == 9);
}

TEST_CASE("a driver without firmware costs none", "[collectors.hw_counters]") {
  Bench bench("rdma_rxe");
  bench.pass();
  CHECK(bench.commands == 0);
  bench.netlink.fail("port_counters", EINVAL);
  bench.pass();
  CHECK(bench.commands == 0);
  Bench other("bnxt_en");
  other.pass();
  CHECK(other.commands == 1);
}

TEST_CASE("the state of a port: one question to netlink instead of two files", "[collectors.hw_counters]") {
  Bench bench;
  bench.netlink.state.state = 1;
  bench.netlink.state.phys_state = 3;
  bench.pass(kPortState);
  CHECK(bench.hw["state"] == 1);
  CHECK(bench.hw["phys_state"] == 3);
  CHECK(bench.commands == 1);
  bench.netlink.fail("port", EINVAL);
  bench.pass(kPortState);
  CHECK(bench.hw["state"] == 4);
  CHECK(bench.hw["phys_state"] == 5);
  CHECK(bench.commands == 3);
}

TEST_CASE("every read of the other collectors counts too", "[collectors.hw_counters]") {
  Bench bench;
  bench.site.tree.file(kDevice + "/ports/1/counters/port_rcv_data", "100\n");
  bench.pass(kPortTraffic);
  CHECK(bench.commands == 2);
  bench.collector.reset();
  bench.site.tree.file(kDevice + "/ports/1/rate", "400 Gb/sec (4X NDR)\n");
  bench.site.tree.file(kDevice + "/ports/1/lid", "0x0\n");
  bench.pass(kPortInfo);
  CHECK(bench.commands == 3);  // lid, state, rate
}

namespace {

// The canonical samples of one pass, by family without its prefix, port and further labels.
std::map<std::string, double> canonical(Site& site) {
  ReadErrors errors;
  CounterLedger ledger;
  const ClockFn now = site.clock.fn();
  Reading reading{.samples = {}, .errors = errors, .ledger = ledger, .now = now};
  REQUIRE(kHwCounters.make(site.host, "mlx5_0")->collect(reading));
  std::map<std::string, double> out;
  for (const Sample& one : reading.samples) {
    if (!one.def->name.starts_with("qpscope_port_") && one.def->name != "qpscope_unmapped_counters") continue;
    std::string key(one.def->name.substr(8));
    for (std::size_t i = 1; i < one.labels.size(); ++i) key += " " + (one.labels[i].empty() ? "-" : std::string(one.labels[i]));
    CHECK(out.emplace(key, std::get<double>(one.value)).second);
  }
  return out;
}

struct Card {
  Site site;
  explicit Card(const std::string& driver) { site.tree.link(kDevice + "/device/driver", "../" + driver); }
  void device(const std::string& counter, int value) const { site.tree.file(kDevice + "/hw_counters/" + counter, std::to_string(value) + "\n"); }
  void port(const std::string& port, const std::string& counter, int value) const {
    site.tree.file(kDevice + "/ports/" + port + "/hw_counters/" + counter, std::to_string(value) + "\n");
  }
  void netdev(const std::string& port, const std::string& name, const std::string& phys_port_name) const {
    site.tree.file(kDevice + "/ports/" + port + "/gid_attrs/ndevs/0", name + "\n");
    site.tree.file("sys/class/net/" + name + "/phys_port_name", phys_port_name + "\n");
  }
};

using Samples = std::map<std::string, double>;

}  // namespace

TEST_CASE("canonical: what the device alone counts has no port", "[collectors.hw_counters]") {
  Card card("cxgb4");
  card.device("ip4RetransSegs", 12);
  card.device("ip6RetransSegs", 3);
  card.device("ip4InSegs", 7);
  CHECK(canonical(card.site) == Samples{{"port_retransmitted_packets_total -", 15}, {"unmapped_counters", 0}});
}

TEST_CASE("canonical: where a port counts it too, the device's stays raw", "[collectors.hw_counters]") {
  Card card("mlx4_core");
  card.device("sq_num_to", 9);
  card.device("rq_num_oos", 2);
  card.port("1", "sq_num_to", 4);
  card.port("2", "sq_num_to", 5);
  CHECK(canonical(card.site) == Samples{{"port_retransmits_total 1 ack_timeout", 4},
                                        {"port_retransmits_total 2 ack_timeout", 5},
                                        {"port_rx_out_of_sequence_packets_total -", 2},
                                        {"unmapped_counters", 0}});
}

TEST_CASE("canonical: mlx5 in switchdev mode", "[collectors.hw_counters]") {
  Card card("mlx5_core");
  card.device("out_of_sequence", 9);
  card.device("np_cnp_sent", 5);
  const Samples of_device{{"port_rx_out_of_sequence_packets_total -", 9}, {"port_tx_cnp_packets_total -", 5}, {"unmapped_counters", 0}};
  CHECK(canonical(card.site) == of_device);
  // The uplink's are never filled: they are left out, and the device's stay.
  card.port("1", "vport_out_of_sequence", 0);
  card.netdev("1", "up", "p0");
  CHECK(canonical(card.site) == of_device);
  card.port("2", "vport_out_of_sequence", 31);
  CHECK(canonical(card.site) == of_device);  // whose it is, is not known
  // A representor's is another function's: beside it the device's own is still its own.
  card.netdev("2", "r0", "pf0vf0");
  Samples both = of_device;
  both["port_rx_out_of_sequence_packets_total 2"] = 31;
  CHECK(canonical(card.site) == both);
}

TEST_CASE("counters without a row are counted, once a device", "[collectors.hw_counters]") {
  Card card("mlx5_core");
  card.device("brand_new", 1);
  card.port("1", "brand_new", 1);
  card.port("1", "newer", 1);
  card.port("1", "lifespan", 10);
  CHECK(canonical(card.site) == Samples{{"unmapped_counters", 2}});
}
