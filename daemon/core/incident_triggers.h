// SPDX-License-Identifier: Apache-2.0
// When is it worth keeping what the flight recorder has? Looks once a second at what is known and says what happened, each thing once. Pure; not thread-safe.
// A new trigger is a function here and a value in Trigger::Kind.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/flight_recorder.h"
#include "core/incident.h"
#include "core/qp_endings.h"
#include "core/sample_places.h"
#include "core/snapshot.h"

namespace qpscope {

struct TriggerLimits {
  std::size_t deaths = 2;      // of connected queue pairs on one port, within kDeathSeconds; 0: never
  double stall_seconds = 30;   // without the traffic that there was; 0: never
  double silent_seconds = 10;  // a device whose firmware does not answer; 0: never
};

class IncidentTriggers {
 public:
  static constexpr double kDeathSeconds = 10;
  static constexpr double kQuietSeconds = 600;       // the same thing is not told again
  static constexpr double kUsualBytes = 1e6;         // a second: less is no traffic that could stall
  static constexpr std::size_t kMostWatched = 4096;  // ports and workloads

  explicit IncidentTriggers(const TriggerLimits& limits);

  // `silent`: devices whose firmware has kept us waiting, and for how many seconds.
  using Silent = std::vector<std::pair<std::string, double>>;
  // `ended` and `events`: those that are new since the look before.
  std::vector<Trigger> look(const Snapshot& snapshot, const FlightRecorder& recorder, std::span<const QpEnding> ended, std::span<const SharedEvent> events, const Silent& silent);

 private:
  struct Flow {
    double total = 0, sum = 0;  // `sum` while a snapshot is looked at
    BootTime at;                // when total was read
    double usual = 0;           // bytes a second; only while it flows
    BootTime since, quiet;      // first seen; since when next to nothing flows, 0: it flows
    bool told = false;
  };
  using FlowKey = std::tuple<std::string, std::string, std::string, std::string>;  // device, port, tenant, workload; the last two empty: the port's

  void look_at_deaths(const Snapshot& snapshot, const FlightRecorder& recorder, std::span<const QpEnding> ended);
  void look_at_flows(const Snapshot& snapshot);
  void look_at_flow(const Snapshot& snapshot, const FlowKey& key, Flow& flow);
  void tell(Trigger trigger);

  const TriggerLimits limits_;
  SamplePlaces places_;
  std::deque<QpEnding> recent_;
  std::map<FlowKey, Flow> flows_;
  std::map<std::tuple<Trigger::Kind, std::string, std::uint32_t, std::string, std::string>, BootTime> told_;
  std::vector<Trigger> out_;  // while it looks
};

}  // namespace qpscope
