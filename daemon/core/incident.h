// SPDX-License-Identifier: Apache-2.0
// Something happened for which the flight recorder is kept: why, and what is kept. Plain data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/event_history.h"
#include "core/flight_recorder.h"
#include "core/ids.h"
#include "core/qp_endings.h"
#include "core/snapshot.h"

namespace qpscope {

struct Trigger {
  enum class Kind : std::uint8_t { queue_pair_deaths, link_down, workload_stall, firmware_stall, request };
  BootTime at;
  Kind kind = Kind::request;
  std::string device, tenant, workload;  // may hold untrusted bytes, as may the message
  PortNum port;                          // 0: none
  std::string message;                   // one line
};
inline constexpr std::size_t kTriggerKinds = 5;
std::string_view to_string(Trigger::Kind kind);

// What is written into one file.
struct Incident {
  std::string id;  // "20261201T031502Z-queue_pair_deaths": names the file, sorts by time
  std::vector<Trigger> triggers;  // the first is why
  double wall_minus_boot = 0;
  std::shared_ptr<const Snapshot> snapshot;  // of the moment it was frozen
  FlightRecorder::Window window;
  QpEndings::Selection endings;
  std::vector<SharedEvent> events;  // by id
};

// The connected queue pair that ended first when it began: on the port that the first trigger names, if it names one, and not long before work requests
// failed there. Null: none did.
const QpEnding* first_to_end(const Incident& incident);

}  // namespace qpscope
