// SPDX-License-Identifier: Apache-2.0
#include "history_watch.h"

#include <algorithm>
#include <charconv>

#include "core/rdma.h"
#include "core/text.h"

namespace qpscope {
namespace {

constexpr unsigned kDown = 1, kActive = 4, kActiveDefer = 5;
constexpr double kForgetSeconds = 600;  // ports that were not seen for so long, where there is no room

bool up(unsigned state) { return state == kActive || state == kActiveDefer; }

std::string state_text(unsigned state) {
  const std::string_view name = port_state_name(state);
  return name.empty() ? "state " + std::to_string(state) : std::string(name);
}

HistoryEvent port_event(const Sample& sample, unsigned before, unsigned now, BootTime at) {
  HistoryEvent out{.at = at, .device = std::string(sample.labels[0])};
  const std::string_view port = sample.labels[1];
  std::from_chars(port.data(), port.data() + port.size(), out.port.value);
  out.severity = up(now) ? Severity::info : now == kDown && up(before) ? Severity::error : Severity::warning;
  out.message = safe_text(out.device) + " port " + safe_text(port) + " went from " + state_text(before) + " to " + state_text(now);
  return out;
}

}  // namespace

HistoryWatch::HistoryWatch(EventHistory& history)
    : history_(history), places_([](std::string_view name) { return name == "qpscope_port_state" ? std::uint8_t{0} : SamplePlaces::kNone; }) {}

void HistoryWatch::look(const Snapshot& snapshot, const std::vector<ProbeStatus>& probes) {
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
  const unsigned before = std::exchange(port->second.state, state);
  if (before != state) history_.add(HistoryKind::port_state, now, [&] { return port_event(sample, before, state, now); });
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
