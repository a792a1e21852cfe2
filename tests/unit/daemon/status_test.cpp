// SPDX-License-Identifier: Apache-2.0
#include "status.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "support/fake_clock.h"
#include "support/fake_host.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

constexpr BootTime kNow{1000 * kSecond};

// "severity device what" lines.
std::string troubles(const SelfView& self, std::size_t left_out = 0) {
  std::string out;
  const StatusNow now{.at = kNow, .live = true, .events_on = true, .stale_after = 30, .left_out = left_out};
  for (const Trouble& one : status_of({.version = "1", .host = {}, .kernel = {}, .started = {900 * kSecond}}, self, now).troubles) {
    out += std::string(to_string(one.severity)) + " " + one.device + " " + one.what + "\n";
  }
  return out;
}

DeviceSampler::Output read(double ago) {
  return {.collector = "hw_counters", .interval = 1, .samples = {}, .qp_counters = {}, .last_success = {kNow.value - static_cast<std::uint64_t>(ago * kSecond)}, .tried = true, .success = true, .trouble = {}};
}

SelfView with(DeviceSampler::Output output) {
  SelfView self;
  self.samplers.emplace_back("mlx5_0", DeviceSampler::State{.outputs = {std::move(output)}, .errors = {}, .ledger = {}, .sets = {}});
  return self;
}

}  // namespace

TEST_CASE("all is well", "[daemon.status]") {
  SelfView self = with(read(1));
  self.devices_found = 1;
  self.devices_expected = 1;
  self.state_saved = true;
  self.probes = {{.probe = "a", .how = "fexit", .target = "f", .attached = true, .reason = ""}, {.probe = "b", .how = "off", .target = "f", .waiting = true, .reason = "no module"}};
  CHECK(troubles(self).empty());
}

TEST_CASE("what keeps it from seeing everything", "[daemon.status]") {
  DeviceSampler::Output failing = read(1), partly = read(1), never = read(0);
  failing.success = false;
  failing.trouble = "cannot read";
  partly.trouble = "no number";
  partly.troubles = 3;
  never.tried = false;
  never.last_success = {};
  CHECK(troubles(with(failing)) == "error mlx5_0 hw_counters: cannot read\n");
  CHECK(troubles(with(partly)) == "warning mlx5_0 hw_counters: 3 of its values cannot be read; first: no number\n");
  CHECK(troubles(with(read(45))) == "error mlx5_0 hw_counters: nothing was read for 45 s, the device does not answer\n");
  CHECK(troubles(with(never)) == "error mlx5_0 hw_counters: nothing was read for 100 s, the device does not answer\n");
  SelfView self;
  self.devices_found = 1;
  self.devices_expected = 2;
  CHECK(troubles(self) == "error  2 RDMA devices are expected, 1 are here\n");
  self = {};
  self.probes = {{.probe = "a", .how = "off", .target = "f", .reason = "why"}};
  self.losses.ring_full = 3;
  self.state_saved = false;
  self.tenant_overflows = 4;
  CHECK(std::ranges::count(troubles(self, 5), '\n') == 5);
}

TEST_CASE("a hundred troubles at most, the errors first", "[daemon.status]") {
  SelfView self;
  for (int i = 0; i < 1600; ++i) {
    DeviceSampler::Output bad = read(1);
    bad.success = i % 20 != 0;
    bad.troubles = 1;
    self.samplers.emplace_back("d" + std::to_string(i), DeviceSampler::State{.outputs = {bad}, .errors = {}, .ledger = {}, .sets = {}});
  }
  const std::string all = troubles(self);
  CHECK(std::ranges::count(all, '\n') == Status::kMostTroubles);
  CHECK(all.starts_with("error d0 "));
  CHECK(all.rfind("error ") < all.find("warning "));
}

TEST_CASE("probes that are off by request are one trouble, with its end", "[daemon.status]") {
  SelfView self;
  self.probes_back_seconds = 61.5;
  self.probes = {{.probe = "a", .how = "off", .target = "f", .reason = "by request"}, {.probe = "b", .how = "off", .target = "f", .reason = "by request"}};
  const std::string all = troubles(self);
  CHECK(std::ranges::count(all, '\n') == 1);
  CHECK(all.find("off by request, for 61 s more") != std::string::npos);
  CHECK(status_of({}, self, {.at = kNow, .live = true, .events_on = false}).probes_back_seconds == 61.5);
}

TEST_CASE("runs of probes only where the kernel counts them", "[daemon.status]") {
  SelfView self;
  self.probes = {{.probe = "a", .how = "fexit", .target = "f", .attached = true, .reason = ""}, {.probe = "b", .how = "fexit", .target = "f", .attached = true, .reason = ""}};
  const StatusFacts facts{.version = "1", .host = {}, .kernel = {}, .started = {}};
  Status status = status_of(facts, self, {.at = kNow, .live = true, .events_on = true});
  CHECK_FALSE(status.bpf_seconds);
  CHECK_FALSE(status.probes[0].runs);
  CHECK(status.probes[0].missed == 0);
  self.probes[0].runs = {.runs = 10, .nanoseconds = 2'000'000'000, .missed = 1};
  status = status_of(facts, self, {.at = kNow, .live = true, .events_on = true});
  CHECK(status.bpf_seconds == 2.0);
  CHECK(status.probes[0].runs == 10);
  CHECK(status.probes[0].missed == 1);
  CHECK(status.probes[1].runs == 0);
}

TEST_CASE("whose machine it is", "[daemon.status]") {
  Site site;
  CHECK(status_facts(site.host.root, kNow).host.empty());
  site.tree.file("proc/sys/kernel/hostname", "node17\n");
  site.tree.file("proc/sys/kernel/osrelease", "6.12.1\n");
  const StatusFacts facts = status_facts(site.host.root, kNow);
  CHECK((facts.host == "node17" && facts.kernel == "6.12.1" && !facts.version.empty() && facts.started == kNow));
}
