// SPDX-License-Identifier: Apache-2.0
#include "history_watch.h"

#include <algorithm>
#include <charconv>

#include "core/rdma.h"
#include "core/text.h"

namespace qpscope {
namespace {

constexpr unsigned kDown = 1, kActive = 4, kActiveDefer = 5;
constexpr double kOlder = 3;            // seconds: what is sampled within them may be from before what the kernel said
constexpr double kForgetSeconds = 600;  // ports that were not seen for so long, where there is no room

bool up(unsigned state) { return state == kActive || state == kActiveDefer; }

std::string state_text(unsigned state) {
  const std::string_view name = port_state_name(state);
  return name.empty() ? "state " + std::to_string(state) : std::string(name);
}

HistoryEvent port_event(std::string_view device, std::string_view port, unsigned before, unsigned now, BootTime at) {
  HistoryEvent out{.at = at, .device = std::string(device)};
  std::from_chars(port.data(), port.data() + port.size(), out.port.value);
  out.severity = up(now) ? Severity::info : now == kDown && up(before) ? Severity::error : Severity::warning;
  out.message = safe_text(out.device) + " port " + safe_text(port) + " went from " + state_text(before) + " to " + state_text(now);
  return out;
}

}  // namespace

HistoryWatch::HistoryWatch(EventHistory& history)
    : history_(history), places_([](std::string_view name) { return name == "qpscope_port_state" ? std::uint8_t{0} : SamplePlaces::kNone; }) {}

void HistoryWatch::look(const Snapshot& snapshot, const std::vector<ProbeStatus>& probes, const std::vector<KernelEvents::PortNews>& news) {
  for (const KernelEvents::PortNews& one : news) hear(one);
  places_.each_new(snapshot.samples, [&](std::uint8_t, const Sample& state) { look_at_port(state, snapshot.at); });
  look_at_probes(probes, snapshot.at);
}

void HistoryWatch::look_at_port(const Sample& sample, BootTime now) {
  const double* value = std::get_if<double>(&sample.value);
  if (!value) return;
  const auto state = static_cast<unsigned>(*value);
  std::pair key(std::string(sample.labels[0]), std::string(sample.labels[1]));
  auto port = ports_.find(key);
  if (port == ports_.end()) {
    if (ports_.size() == kMostPorts) std::erase_if(ports_, [&](const auto& one) { return seconds(now, one.second.seen) > kForgetSeconds; });
    if (ports_.size() == kMostPorts) return;
    port = ports_.emplace(std::move(key), Port{.state = state}).first;
  }
  port->second.seen = now;
  if (port->second.told.value && seconds(now, port->second.told) < kOlder && up(port->second.state) != up(state)) return;
  const unsigned before = std::exchange(port->second.state, state);
  if (before == state) return;
  // From one state in which nothing goes to another, right after the kernel said so: that is the same.
  if (port->second.told.value && seconds(now, port->second.told) < kOlder && up(before) == up(state)) return;
  history_.add(HistoryKind::port_state, now, [&] { return port_event(sample.labels[0], sample.labels[1], before, state, now); });
}

// At once, and however short it is: the sampler looks once a second.
void HistoryWatch::hear(const KernelEvents::PortNews& news) {
  const auto port = ports_.find({news.device, std::to_string(news.port.value)});
  if (port == ports_.end()) return;  // its state is not known yet, so nothing is known to have changed
  port->second.told = news.at;
  const unsigned before = port->second.state, state = news.up ? kActive : kDown;
  if (up(before) == up(state)) return;
  port->second.state = state;
  history_.add(HistoryKind::port_state, news.at, [&] { return port_event(news.device, std::to_string(news.port.value), before, state, news.at); });
}

// One event for all that came or went since the last look: they do so together, with a module.
void HistoryWatch::look_at_probes(const std::vector<ProbeStatus>& probes, BootTime now) {
  if (std::ranges::equal(probes, attached_, [](const ProbeStatus& one, const auto& before) { return one.attached == before.second && one.probe == before.first; })) return;
  attached_.clear();
  for (const ProbeStatus& one : probes) attached_.emplace_back(one.probe, one.attached);
  history_.add(HistoryKind::probes, now, [&] {
    HistoryEvent out{.at = now};
    out.message = std::to_string(std::ranges::count_if(probes, &ProbeStatus::attached)) + " of " + std::to_string(probes.size()) + " probes are attached";
    const auto lost = std::ranges::find_if(probes, [](const ProbeStatus& one) { return !one.attached && !one.waiting; });
    if (lost == probes.end()) return out;
    out.severity = Severity::warning;
    out.message += "; " + lost->probe + " is off: " + lost->reason;
    return out;
  });
}

}  // namespace qpscope
