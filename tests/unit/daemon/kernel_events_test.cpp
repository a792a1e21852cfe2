// SPDX-License-Identifier: Apache-2.0
#include "kernel_events.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/rdma_events.h"
#include "support/fake_clock.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

constexpr DeviceIndex kDevice{3}, kOther{4};

Owner process(std::uint32_t pid, const std::string& comm) {
  Owner out;
  out.known = out.user = true;
  out.tid = {pid + 1};
  out.tgid = {pid};
  out.comm = comm;
  return out;
}

struct Bench {
  EventHistory history;
  std::vector<std::function<void(const Owner&, const Tenant&)>> asked;
  bool busy = false;
  KernelEvents events{history,
                      {.device = [](DeviceIndex device) { return device == kDevice ? std::string("mlx5_0") : std::string(); },
                       .whose =
                           [this](const Owner&, BootTime, auto answer) {
                             if (!busy) asked.push_back(std::move(answer));
                             return !busy;
                           }}};
  std::vector<SharedEvent> told() const { return history.since({}).events; }
  void answer() {
    Tenant tenant;
    tenant.tenant = "physics";
    tenant.workload = "4711";
    for (const auto& one : asked) one(process(812, "python"), tenant);
    asked.clear();
  }
};

}  // namespace

TEST_CASE("an event of a queue pair that is known has its owner and its peer", "[daemon.kernel_events]") {
  Bench b;
  QpRecord qp;
  qp.remote_qpn = Qpn{77};
  qp.remote_gid = Gid{};
  Tenant tenant;
  tenant.tenant = "physics";
  tenant.workload = "4711";
  AsyncEvent event{.at = {5 * kSecond}, .event = 1, .device = kDevice, .port = {1}, .qp = std::nullopt, .number = std::nullopt, .owner = process(812, "python")};
  event.qp = QpIdentity{.device = kDevice, .serial = {9}, .qpn = {17}, .port = {1}};
  b.events.on_async(event, &qp, &tenant);
  REQUIRE(b.told().size() == 1);
  const HistoryEvent& one = *b.told()[0];
  CHECK(one.kind == HistoryKind::queue_pair_event);
  CHECK(one.severity == Severity::error);
  CHECK(one.message == "mlx5_0: qp_fatal of queue pair 17");
  CHECK(one.qpn == Qpn{17});
  CHECK(one.port == PortNum{1});
  CHECK(one.remote_qpn == Qpn{77});
  CHECK(one.tenant == "physics");
  CHECK(one.pid == Pid{812});
  CHECK(b.asked.empty());
}

TEST_CASE("the owner of another object is asked for, and nobody waits", "[daemon.kernel_events]") {
  Bench b;
  b.events.on_async({.at = {5 * kSecond}, .event = 0, .device = kDevice, .port = {}, .qp = std::nullopt, .number = 12, .owner = process(812, "python")}, nullptr, nullptr);
  CHECK(b.told().empty());
  b.answer();
  REQUIRE(b.told().size() == 1);
  CHECK(b.told()[0]->message == "mlx5_0: cq_err of CQ 12");
  CHECK(b.told()[0]->workload == "4711");
  // Where nobody has the time it is told without.
  b.busy = true;
  b.events.on_async({.at = {6 * kSecond}, .event = 14, .device = kDevice, .port = {}, .qp = std::nullopt, .number = 13, .owner = process(812, "python")}, nullptr, nullptr);
  REQUIRE(b.told().size() == 2);
  CHECK(b.told()[1]->message == "mlx5_0: srq_err of SRQ 13");
  CHECK(b.told()[1]->tenant.empty());
  CHECK(b.told()[1]->comm == "python");
}

TEST_CASE("a device that is not watched tells nothing", "[daemon.kernel_events]") {
  Bench b;
  b.events.on_async({.at = {5 * kSecond}, .event = 8, .device = kOther, .port = {}, .qp = std::nullopt, .number = std::nullopt, .owner = {}}, nullptr, nullptr);
  CHECK(b.told().empty());
}

TEST_CASE("that a port came up or went down is news, not an event of its own", "[daemon.kernel_events]") {
  Bench b;
  for (const std::uint32_t event : {kPortErr, kPortActive}) {
    b.events.on_async({.at = {5 * kSecond}, .event = event, .device = kDevice, .port = {1}, .qp = std::nullopt, .number = std::nullopt, .owner = {}}, nullptr, nullptr);
  }
  CHECK(b.told().empty());
  const auto news = b.events.take_port_news();
  REQUIRE(news.size() == 2);
  CHECK_FALSE(news[0].up);
  CHECK(news[1].up);
  CHECK(news[1].device == "mlx5_0");
  CHECK(b.events.take_port_news().empty());
}

TEST_CASE("connections: those that came, ended or failed, with both ends", "[daemon.kernel_events]") {
  Bench b;
  CmEvent event{.at = {5 * kSecond}, .event = 8, .status = 28, .device = kDevice, .qpn = {17}, .source = "192.0.2.1:4711", .destination = "192.0.2.2:19001", .owner = process(812, "x\n")};
  b.events.on_cm(event);
  b.answer();
  REQUIRE(b.told().size() == 1);
  CHECK(b.told()[0]->kind == HistoryKind::connection_failed);
  CHECK(b.told()[0]->message == "connection from 192.0.2.1:4711 to 192.0.2.2:19001: rejected, consumer_defined (28)");
  CHECK(b.told()[0]->workload == "4711");
  event.event = 9;
  event.status = 0;
  b.events.on_cm(event);
  b.answer();
  CHECK(b.told()[1]->kind == HistoryKind::connection);
  event.event = 0;  // a step on the way
  b.events.on_cm(event);
  b.answer();
  CHECK(b.told().size() == 2);
}

TEST_CASE("counters add what has one name, and leave out what has no device", "[daemon.kernel_events]") {
  using Kind = EventCount::Kind;
  const std::map<DeviceIndex, std::string> devices{{kDevice, "mlx5_0"}};
  const SampleList samples = kernel_event_samples({{.kind = Kind::async, .device = kDevice, .port = {1}, .event = 1, .count = 5},
                                                   {.kind = Kind::async, .device = kOther, .port = {1}, .event = 1, .count = 7},
                                                   {.kind = Kind::cm, .device = std::nullopt, .port = {}, .event = 1, .status = -99999, .count = 1},
                                                   {.kind = Kind::cm, .device = std::nullopt, .port = {}, .event = 1, .status = 99, .count = 2}},
                                                  devices);
  REQUIRE(samples.size() == 2);
  const auto of = [&](std::string_view name) { return *std::ranges::find_if(samples, [&](const Sample& one) { return one.def->name == name; }); };
  CHECK(of("qpscope_async_events_total").labels == Labels{"mlx5_0", "1", "qp_fatal"});
  CHECK(std::get<double>(of("qpscope_async_events_total").value) == 5);
  CHECK(of("qpscope_cm_events_total").labels == Labels{"", "addr_error", "other"});
  CHECK(std::get<double>(of("qpscope_cm_events_total").value) == 3);
}
