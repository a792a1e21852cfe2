// SPDX-License-Identifier: Apache-2.0
#include "devices.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "clock.h"
#include "support/fake_host.h"

using namespace qpscope;
using namespace qpscope::test;

TEST_CASE("devices come and go; patterns say which are watched", "[daemon.devices]") {
  Site site;
  Config config;
  config.devices.include = {"mlx5_*", "rxe*"};
  config.devices.exclude = {"rxe*"};
  EventHistory history;
  Devices devices(site.host, config, site.budgets, history);
  devices.scan(Devices::Start::no);
  CHECK(devices.size() == 0);
  add_device(site.tree);
  add_device(site.tree, "sys/class/infiniband/rxe0");
  add_device(site.tree, "sys/class/infiniband/bnxt_re0");
  devices.scan(Devices::Start::no);
  devices.scan(Devices::Start::no);
  REQUIRE(devices.size() == 1);
  CHECK(devices.states()[0].first == "mlx5_0");
  std::filesystem::remove_all(site.tree.at(kDevice));
  devices.scan(Devices::Start::no);
  CHECK(devices.size() == 0);
  add_device(site.tree);
  devices.scan(Devices::Start::no);
  CHECK(devices.size() == 1);
}

TEST_CASE("a device that was registered anew under its name is read anew", "[daemon.devices]") {
  Site site;
  add_device(site.tree);
  Config config;
  EventHistory history;
  Devices devices(site.host, config, site.budgets, history);
  devices.scan(Devices::Start::no);
  devices.pass();
  REQUIRE(output(devices.states()[0].second, "port_state").tried);
  devices.scan(Devices::Start::no);
  CHECK(output(devices.states()[0].second, "port_state").tried);  // the same
  std::filesystem::rename(site.tree.at(kDevice), site.tree.at("old"));  // so that its inode is not free
  add_device(site.tree);
  devices.scan(Devices::Start::no);
  REQUIRE(devices.size() == 1);
  CHECK_FALSE(output(devices.states()[0].second, "port_state").tried);
}

TEST_CASE("old is not now: stale samples are left out of the snapshot", "[daemon.devices]") {
  Site site;
  add_device(site.tree);
  Config config;
  EventHistory history;
  Devices devices(site.host, config, site.budgets, history);
  devices.scan(Devices::Start::no);
  devices.pass();
  const auto lists_after = [&](double seconds) {
    Snapshot snapshot;
    snapshot.at = {boot_now().value + static_cast<std::uint64_t>(seconds * 1e9)};
    devices.fill(snapshot);
    return snapshot.samples.size();
  };
  CHECK(lists_after(0) == devices.states()[0].second.outputs.size());
  CHECK(lists_after(29) == lists_after(0));
  CHECK(lists_after(31) == 0);
  CHECK(output(devices.states()[0].second, "port_state").last_success.value > 0);
}

TEST_CASE("a slow collector is not stale between two of its passes", "[daemon.devices]") {
  Site site;
  add_device(site.tree);
  Config config;
  config.sampling.slow_interval = 3600;
  EventHistory history;
  Devices devices(site.host, config, site.budgets, history);
  devices.scan(Devices::Start::no);
  devices.pass();
  Snapshot snapshot;
  snapshot.at = {boot_now().value + 3601 * kSecond};
  devices.fill(snapshot);
  CHECK_FALSE(snapshot.samples.empty());
  CHECK(snapshot.samples.size() < devices.states()[0].second.outputs.size());
}

TEST_CASE("stopping names nobody when every thread ends", "[daemon.devices]") {
  Site site;
  add_device(site.tree);
  Config config;
  EventHistory history;
  Devices devices(site.host, config, site.budgets, history);
  devices.scan(Devices::Start::yes);
  REQUIRE(becomes_true([&] { return output(devices.states()[0].second, "port_state").last_success.value > 0; }));
  CHECK(devices.stop(10, 10).empty());
  CHECK(devices.size() == 0);
  REQUIRE(devices.ledgers().size() == 1);  // still to be saved
  CHECK(devices.ledgers()[0].image);
}

TEST_CASE("totals outlive a device that goes away and comes back, also under another name", "[daemon.devices]") {
  Site site;
  Config config;
  EventHistory history;
  Devices devices(site.host, config, site.budgets, history);
  const auto round = [&](const std::string& device, std::string_view words) {
    add_device(site.tree, device);
    site.tree.file(device + "/ports/1/counters/port_xmit_data", words);
    devices.scan(Devices::Start::no);
    devices.pass();
    devices.pass();
    const auto total = value(devices.states().at(0).second, "port_traffic", "qpscope_port_tx_bytes_total");
    std::filesystem::remove_all(site.tree.at(device));
    devices.scan(Devices::Start::no);
    CHECK(devices.size() == 0);
    CHECK(devices.ledgers().size() == 1);
    return total;
  };
  CHECK(round(kDevice, "100\n") == 400);
  CHECK(round(kDevice, "3\n") == 400);  // a reloaded driver starts at 0
  CHECK(round("sys/class/infiniband/renamed", "5\n") == 408);
  CHECK(devices.ledgers()[0].image->ports.at("1").resets == 1);
}

TEST_CASE("a GUID that cannot be read when a device comes back does not cost its totals", "[daemon.devices]") {
  Site site;
  Config config;
  EventHistory history;
  Devices devices(site.host, config, site.budgets, history);
  add_device(site.tree);
  devices.scan(Devices::Start::no);
  devices.pass();
  std::filesystem::remove_all(site.tree.at(kDevice));
  devices.scan(Devices::Start::no);
  add_device(site.tree);
  std::filesystem::remove(site.tree.at(kDevice + "/node_guid"));
  // Reading it fails, or it has just gone: the device may be going while we look.
  if (GENERATE(true, false)) std::filesystem::create_directory(site.tree.at(kDevice + "/node_guid"));
  site.tree.file(kDevice + "/ports/1/counters/port_xmit_data", "107\n");
  devices.scan(Devices::Start::no);
  devices.pass();
  CHECK(value(devices.states().at(0).second, "port_traffic", "qpscope_port_tx_bytes_total") == 428);
  CHECK(devices.ledgers().size() == 1);
  CHECK(devices.ledgers()[0].guid == "0c42:a103:0000:0001");
}
