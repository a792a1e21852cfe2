// SPDX-License-Identifier: Apache-2.0
// The flight recorder: what there is of the last 15 minutes, and when it is kept. Main thread, but for request().
//
// A trigger (core/incident_triggers.h) does not freeze at once: what follows within kAfterSeconds belongs to it, other triggers too.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "core/event_history.h"
#include "core/flight_recorder.h"
#include "core/incident.h"
#include "core/incident_triggers.h"
#include "core/metric.h"
#include "core/qp_endings.h"
#include "incident_writer.h"

namespace qpscope {

class Incidents {
 public:
  static constexpr double kAfterSeconds = 10;
  static constexpr std::size_t kMostTriggers = 32;  // of an incident
  static constexpr std::size_t kMostRequests = 8;   // that wait

  struct Hooks {
    std::function<QpEndings::Selection(std::uint64_t after)> endings;
    std::function<double()> wall_minus_boot;
  };
  Incidents(const RecorderConfig& config, const Sysroot& root, EventHistory& history, Hooks hooks);

  // Where it is off, or there is no /var/lib to keep anything in, nothing is recorded.
  bool on() const { return on_; }
  void start(int root);  // its descriptor
  // Before the snapshot is filled, which then knows the tenants of all that ended.
  void gather();
  // `silent` as IncidentTriggers wants it.
  void look(const std::shared_ptr<const Snapshot>& snapshot, const IncidentTriggers::Silent& silent);
  // The incident that will be kept within a second. Any thread.
  Result<std::string> request(const std::string& reason);
  // What waits for its kAfterSeconds is kept now. False if the writer is stuck.
  bool stop(double wait_seconds);

  // Counters from the daemon's start, as self_samples().
  SampleList samples() const;

 private:
  struct Pending {
    std::vector<Trigger> triggers;
    BootTime due;
    std::string id;  // given where somebody waits for it
  };
  std::string new_id(Trigger::Kind kind, BootTime at);
  void take_requests();
  void begin(std::vector<Trigger> triggers, BootTime now);
  void freeze(Pending&& pending);

  const bool on_;
  EventHistory& history_;
  const Hooks hooks_;
  FlightRecorder recorder_;
  IncidentTriggers triggers_;
  IncidentWriter writer_;
  std::vector<QpEnding> ended_;   // gathered, and not looked at yet
  QpEndings::Selection all_;      // the same where something is frozen now
  std::uint64_t seen_ending_ = 0, seen_event_ = 0;
  std::shared_ptr<const Snapshot> snapshot_;  // the last
  std::vector<Pending> requested_;            // to be frozen now
  std::optional<Pending> pending_;
  std::array<std::uint64_t, kTriggerKinds> told_{};

  std::mutex mutex_;  // guards what follows
  std::vector<Pending> requests_;
  std::string last_id_;
  unsigned same_ = 0;  // how many had last_id_'s time and kind
};

MetricList incident_metrics();

}  // namespace qpscope
