// SPDX-License-Identifier: Apache-2.0
#include "sampler.h"

#include <catch2/catch.hpp>
#include <list>
#include <mutex>

#include "clock.h"
#include "support/fake_ethtool.h"
#include "support/fake_host.h"
#include "support/fake_netlink.h"

using namespace qpscope;
using namespace qpscope::test;

TEST_CASE("a pass reads every collector and stamps it", "[daemon.sampler]") {
  Site site;
  add_device(site.tree);
  DeviceSampler sampler(site.host, {.name = "mlx5_0"}, {}, site.budgets, site.clock.fn());
  CHECK_FALSE(output(sampler.state(), "port_state").samples);
  CHECK(output(sampler.state(), "port_state").last_success.value == 0);
  sampler.pass();
  const auto state = sampler.state();
  CHECK(value(state, "port_state", "qpscope_port_state") == 4);
  for (const auto& one : state.outputs) {
    INFO(one.collector);
    CHECK(one.success);
    CHECK(one.samples);
    CHECK(one.last_success.value > 1000 * kSecond);
    CHECK(one.duration > 0);
  }
  CHECK(state.errors.empty());
  site.tree.file(kDevice + "/ports/1/state", "1: DOWN\n");
  sampler.pass();
  CHECK(value(sampler.state(), "port_state", "qpscope_port_state") == 1);
  CHECK(value(state, "port_state", "qpscope_port_state") == 4);  // what was handed out does not change
}

TEST_CASE("a value that cannot be read is left out and counted; the others stay", "[daemon.sampler]") {
  Site site;
  add_device(site.tree);
  DeviceSampler sampler(site.host, {.name = "mlx5_0"}, {}, site.budgets, site.clock.fn());
  sampler.pass();
  site.tree.file(kDevice + "/ports/1/state", "nonsense\n");
  sampler.pass();
  sampler.pass();
  const auto state = sampler.state();
  CHECK_FALSE(value(state, "port_state", "qpscope_port_state"));
  CHECK(value(state, "port_state", "qpscope_port_physical_state") == 5);
  CHECK(state.errors.at({"port", "parse"}) == 2);
  site.tree.file(kDevice + "/ports/1/state", "4: ACTIVE\n");
  sampler.pass();
  CHECK(value(sampler.state(), "port_state", "qpscope_port_state") == 4);
  CHECK(sampler.state().errors.at({"port", "parse"}) == 2);
}

TEST_CASE("hw_counters of which none can be read are a pass that failed, unlike counters/ that are there and never can", "[daemon.sampler]") {
  Site site;
  add_device(site.tree);
  const std::string folder = kDevice + "/ports/1/hw_counters/";
  site.tree.file(folder + "lifespan", "10\n");
  site.tree.file(folder + "duplicate_request", "7\n");
  DeviceSampler sampler(site.host, {.name = "mlx5_0"}, {}, site.budgets, site.clock.fn());
  const auto after_a_pass = [&] {
    site.clock.pass(1);
    sampler.pass();
    return output(sampler.state(), "hw_counters");
  };
  site.tree.file(folder + "duplicate_request", "nonsense\n");
  const auto some = after_a_pass();
  CHECK(some.success);
  site.tree.file(folder + "out_of_sequence", "nonsense\n");
  const auto none = after_a_pass();
  CHECK_FALSE(none.success);
  CHECK(none.troubles == 2);
  CHECK(none.last_success.value == some.last_success.value);
  CHECK(value(sampler.state(), "hw_counters", "qpscope_hw_counters_lifespan_seconds") == 0.01);
  site.tree.file(kDevice + "/ports/1/counters/port_xmit_data", "nonsense\n");
  CHECK_FALSE(after_a_pass().success);
  CHECK(output(sampler.state(), "port_traffic").success);
  site.tree.file(folder + "out_of_sequence", "8\n");
  CHECK(after_a_pass().success);
}

TEST_CASE("a device that is not there harms nobody", "[daemon.sampler]") {
  Site site;
  DeviceSampler sampler(site.host, {.name = "mlx5_9"}, {}, site.budgets, site.clock.fn());
  sampler.pass();
  CHECK_FALSE(value(sampler.state(), "port_state", "qpscope_port_state"));
}

TEST_CASE("the thread samples by its clocks and ends when asked", "[daemon.sampler]") {
  Site site;
  add_device(site.tree);
  DeviceSampler sampler(site.host, {.name = "mlx5_0"}, {.sampling = {.interval = 0.1, .slow_interval = 3600, .stale_after = 30}}, site.budgets, boot_now);
  sampler.start();
  const auto success = [&](std::string_view name) { return output(sampler.state(), name).last_success.value; };
  REQUIRE(becomes_true([&] { return success("port_state") > 0 && success("port_info") > 0; }));
  const auto fast = success("port_state"), slow = success("port_info");
  CHECK(becomes_true([&] { return success("port_state") > fast; }));
  CHECK(success("port_info") == slow);
  CHECK_FALSE(sampler.finished_within(0));
  sampler.request_stop();
  CHECK(sampler.finished_within(10));
}

TEST_CASE("a file whose read fails is tried less and less often, and is in trouble all the while", "[daemon.sampler]") {
  Site site;
  add_device(site.tree);
  // A folder opens, and reading it fails.
  site.tree.folder(kDevice + "/ports/1/counters/symbol_error");
  DeviceSampler sampler(site.host, {.name = "mlx5_0"}, {}, site.budgets, site.clock.fn());
  const auto errors = [&] { return sampler.state().errors.at({"counters", "EISDIR"}); };
  std::vector<std::uint64_t> seen;
  for (int second = 0; second < 16; ++second) {
    sampler.pass();
    seen.push_back(errors());
    site.clock.pass(1);
  }
  CHECK(seen == std::vector<std::uint64_t>{1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5});
  CHECK(value(sampler.state(), "port_traffic", "qpscope_port_tx_bytes_total") == 400);
}

TEST_CASE("totals go on over wraps, and from an image", "[daemon.sampler]") {
  Site site;
  add_device(site.tree);
  const std::string lost = kDevice + "/ports/1/hw_counters/out_of_sequence";
  site.tree.link(kDevice + "/device/driver", "../mlx5_core");
  const auto pass = [&](DeviceSampler& sampler, std::string_view raw) {
    site.tree.file(lost, raw);
    site.clock.pass(1);
    sampler.pass();
    const auto state = sampler.state();
    CHECK(value(state, "hw_counters", "qpscope_hw_counters_total") == value(state, "hw_counters", "qpscope_port_rx_out_of_sequence_packets_total"));
    return value(state, "hw_counters", "qpscope_hw_counters_total");
  };
  DeviceSampler first(site.host, {.name = "mlx5_0"}, {}, site.budgets, site.clock.fn());
  CHECK(pass(first, "4294967290\n") == 4294967290);
  CHECK(pass(first, "5\n") == 4294967301);
  DeviceSampler second(site.host, first.state().ledger, {}, site.budgets, site.clock.fn());
  CHECK(value(second.state(), "hw_counters", "qpscope_hw_counters_total") == std::nullopt);
  CHECK(second.state().ledger == first.state().ledger);
  CHECK(pass(second, "6\n") == 4294967302);
}

namespace {

// Knows of no queue pair; who listens to its news?
struct Listeners : QpDirectory {
  std::map<std::string, std::function<void()>> wakers;
  void catch_up() override {}
  bool events_on() const override { return true; }
  bool all_known() const override { return true; }
  std::vector<CountableQp> take_countable(const std::string&, std::size_t) override { return {}; }
  void retell(const std::string&) override {}
  std::optional<CountableQp> find(const std::string&, QpKey) override { return std::nullopt; }
  std::optional<CountableQp> holder(const std::string&, PortNum, Qpn) override { return std::nullopt; }
  std::size_t countable(const std::string&, PortNum) override { return 0; }
  Released take_released(const std::string&) override { return {}; }
  void on_news(const std::string& device, std::function<void()> wake) override {
    if (wake) {
      wakers[device] = std::move(wake);
    } else {
      wakers.erase(device);
    }
  }
};

}  // namespace

TEST_CASE("news of queue pairs go to the sampler that has the device now, and to none that only reads", "[daemon.sampler]") {
  Site site;
  add_device(site.tree);
  std::mutex mutex;
  std::list<FakeNetlink> netlinks;  // one each: the first thread may still be at work when the second begins
  Listeners directory;
  site.host.netlink = [&](const std::string&) {
    const std::lock_guard lock(mutex);
    return netlinks.emplace_back().line();
  };
  site.host.queue_pairs = &directory;
  const bool binds = GENERATE(true, false);
  Config config;
  config.counters.qp_mode = binds ? "tenant" : "leave";
  DeviceSampler second(site.host, {.name = "mlx5_0"}, config, site.budgets, boot_now);
  {
    DeviceSampler first(site.host, {.name = "mlx5_0"}, config, site.budgets, boot_now);
    first.start();
    CHECK(directory.wakers.contains("mlx5_0") == binds);
    first.request_stop();
    CHECK_FALSE(directory.wakers.contains("mlx5_0"));
    second.start();
  }
  CHECK(directory.wakers.contains("mlx5_0") == binds);
  second.request_stop();
  CHECK(directory.wakers.empty());
}

TEST_CASE("a collector that asks for rest is left alone for as long", "[daemon.sampler]") {
  Site site;
  add_device(site.tree);
  site.tree.file(kDevice + "/ports/1/gid_attrs/ndevs/0", "eth0\n");
  site.tree.file("sys/class/net/eth0/ifindex", "1\n");
  FakeEthtool fake;
  fake.statistics["eth0"] = {{"link_down_events_phy", 1}};
  double takes = 0.3;
  fake.meanwhile = [&] { site.clock.pass(takes); };
  site.host.ethtool = [&] { return fake.ethtool(); };
  DeviceSampler sampler(site.host, {.name = "mlx5_0"}, {}, site.budgets, site.clock.fn());
  sampler.pass();
  CHECK(output(sampler.state(), "netdev_statistics").interval == Approx(30));
  CHECK(output(sampler.state(), "netdev_statistics").rest == Approx(30));
  CHECK(output(sampler.state(), "port_info").interval == 15);
  takes = 0;
  sampler.pass();
  CHECK(output(sampler.state(), "netdev_statistics").interval == 15);
}
