// SPDX-License-Identifier: Apache-2.0
#include "history_watch.h"

#include <catch2/catch.hpp>

#include "support/fake_clock.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

constexpr MetricDef kState{"qpscope_port_state", MetricType::gauge, "(test).", LabelNames{"device", "port"}};

struct Watched {
  EventHistory history;
  HistoryWatch watch{history};
  std::uint64_t at = 0, told = 0;

  // "severity kind: message" of what is new, joined by "; ".
  std::string look(SampleList samples, const std::vector<ProbeStatus>& probes = {}, const std::vector<KernelEvents::PortNews>& news = {}) {
    Snapshot snapshot;
    snapshot.at = {++at * kSecond};
    snapshot.samples.push_back(std::make_shared<const SampleList>(std::move(samples)));
    watch.look(snapshot, probes, news);
    std::string out;
    for (const SharedEvent& one : history.since(told).events) {
      const HistoryKindRow& row = history_kinds()[static_cast<std::size_t>(one->kind)];
      out += (out.empty() ? "" : "; ") + std::string(to_string(one->severity.value_or(row.severity))) + " " + std::string(row.name) + ": " + one->message;
    }
    told = history.since({}).newest;
    return out;
  }
};

ProbeStatus probe(const char* name, bool attached, const char* reason = "", bool waiting = false) {
  return {.probe = name, .how = attached ? "fexit" : "off", .target = "f", .attached = attached, .waiting = waiting, .reason = reason};
}

}  // namespace

TEST_CASE("a port that changes its state", "[daemon.history_watch]") {
  Watched w;
  CHECK(w.look({sample(kState, {"mlx5_0", "1"}, 4), sample(kState, {"mlx5_0", "2"}, 1)}).empty());  // it was so before
  CHECK(w.look({sample(kState, {"mlx5_0", "1"}, 4), sample(kState, {"mlx5_0", "2"}, 1)}).empty());
  CHECK(w.look({sample(kState, {"mlx5_0", "1"}, 1), sample(kState, {"mlx5_0", "2"}, 2)}) ==
        "error port_state: mlx5_0 port 1 went from ACTIVE to DOWN; warning port_state: mlx5_0 port 2 went from DOWN to INIT");
  CHECK(w.look({}).empty());  // away
  CHECK(w.look({sample(kState, {"mlx5_0", "1"}, 4)}) == "info port_state: mlx5_0 port 1 went from DOWN to ACTIVE");
  CHECK(w.look({sample(kState, {"mlx5_0", "1"}, 77)}) == "warning port_state: mlx5_0 port 1 went from ACTIVE to state 77");
  const auto last = w.history.since({}).events.back();
  CHECK(last->device == "mlx5_0");
  CHECK(last->port.value == 1);
}

TEST_CASE("a hostile device name stays in its line", "[daemon.history_watch]") {
  Watched w;
  w.look({sample(kState, {"m\n\x1b", "1"}, 4)});
  CHECK(w.look({sample(kState, {"m\n\x1b", "1"}, 1)}) == "error port_state: m\\x0a\\x1b port 1 went from ACTIVE to DOWN");
}

TEST_CASE("more ports than there is room for", "[daemon.history_watch]") {
  Watched w;
  const auto all = [](double state) {
    SampleList out;
    for (std::size_t n = 0; n < HistoryWatch::kMostPorts + 10; ++n) out.push_back(sample(kState, {"d" + std::to_string(n), "1"}, state));
    return out;
  };
  w.look(all(4));
  w.look(all(1));
  double told = 0;
  for (const Sample& one : w.history.samples()) {
    if (one.def->name == "qpscope_events_total" && one.labels[0] == "port_state") told = std::get<double>(one.value);
  }
  CHECK(told == HistoryWatch::kMostPorts);
}

TEST_CASE("probes that are attached and lost", "[daemon.history_watch]") {
  Watched w;
  CHECK(w.look({}).empty());
  CHECK(w.look({}, {probe("a", true), probe("b", false, "no module", true)}) == "info probes: 1 of 2 probes are attached");
  CHECK(w.look({}, {probe("a", true), probe("b", false, "no module", true)}).empty());
  CHECK(w.look({}, {probe("a", false, "why not"), probe("b", true)}) == "warning probes: 1 of 2 probes are attached; a is off: why not");
}

TEST_CASE("what the kernel says of a port is told at once, and what is sampled tells it no second time", "[daemon.history_watch]") {
  Watched w;
  const auto news = [&](bool up) { return KernelEvents::PortNews{.device = "mlx5_0", .port = {1}, .up = up, .at = {(w.at + 1) * kSecond}}; };
  const auto sampled = [](double state) { return SampleList{sample(kState, {"mlx5_0", "1"}, state)}; };
  CHECK(w.look(sampled(4)).empty());
  // Shorter than the time between two samples.
  CHECK(w.look(sampled(4), {}, {news(false), news(true)}) ==
        "error port_state: mlx5_0 port 1 went from ACTIVE to DOWN; info port_state: mlx5_0 port 1 went from DOWN to ACTIVE");
  CHECK(w.look(sampled(4)).empty());
  // The sample is from before, and then another state in which nothing goes.
  CHECK(w.look(sampled(4), {}, {news(false)}) == "error port_state: mlx5_0 port 1 went from ACTIVE to DOWN");
  CHECK(w.look(sampled(4)).empty());
  CHECK(w.look(sampled(2)).empty());
  CHECK(w.look(sampled(1)) == "warning port_state: mlx5_0 port 1 went from INIT to DOWN");
  // If the kernel was wrong, the samples win.
  CHECK(w.look(sampled(1), {}, {news(true)}) == "info port_state: mlx5_0 port 1 went from DOWN to ACTIVE");
  CHECK(w.look(sampled(1)).empty());
  CHECK(w.look(sampled(1)).empty());
  CHECK(w.look(sampled(1)) == "error port_state: mlx5_0 port 1 went from ACTIVE to DOWN");
  // Of a port that nobody has seen yet nothing has changed.
  CHECK(w.look({}, {}, {{.device = "mlx5_9", .port = {1}, .up = false, .at = {w.at * kSecond}}}).empty());
}
