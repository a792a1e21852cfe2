// SPDX-License-Identifier: Apache-2.0
#include "core/incident.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace qpscope {
namespace {

constexpr std::array<std::string_view, kTriggerKinds> kNames{"queue_pair_deaths", "link_down", "workload_stall", "firmware_stall", "request"};
constexpr double kBefore = 30;  // seconds before the trigger in which it may have begun
constexpr double kClose = 2;    // seconds: counters are sampled once in one

// When work requests first failed on the port, or on any, in the last `kBefore` seconds before the trigger or later.
BootTime first_error(const Incident& incident, const Trigger& why) {
  const FlightRecorder::Window& window = incident.window;
  const double from = std::max(0.0, seconds(why.at, window.began) - kBefore);
  double first = seconds(window.ended, window.began);
  for (const FlightRecorder::Series& one : window.series) {
    if (one.def->name != "qpscope_port_completion_errors_total") continue;
    if (!why.device.empty() && one.labels[0] != why.device) continue;
    if (why.port.value && one.labels[1] != std::to_string(why.port.value)) continue;
    for (auto second = static_cast<std::size_t>(from); second < one.values.size() && static_cast<double>(second) < first; ++second) {
      if (one.values[second] > 0) first = static_cast<double>(second);
    }
  }
  return after(window.began, first);
}

}  // namespace

std::string_view to_string(Trigger::Kind kind) { return kNames.at(static_cast<std::size_t>(kind)); }

const QpEnding* first_to_end(const Incident& incident) {
  if (incident.triggers.empty()) return nullptr;
  const Trigger& why = incident.triggers.front();
  const BootTime began = std::min(first_error(incident, why), why.at);
  for (const QpEnding& one : incident.endings.endings) {
    if (seconds(began, one.at) > kClose) continue;
    const auto name = incident.snapshot->devices->find(one.qp.key.device);
    if (!why.device.empty() && (name == incident.snapshot->devices->end() || name->second != why.device)) continue;
    if (why.port.value && one.qp.port != why.port) continue;
    return &one;
  }
  return nullptr;
}

}  // namespace qpscope
