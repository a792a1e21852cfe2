// SPDX-License-Identifier: Apache-2.0
// What happened of late, for people: queue pairs that died, calls that were refused, ports that went down, devices that came. Bounded in memory,
// each kind by itself: a storm of one pushes out its own and nobody else's, and is cut off before it costs anything. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.h"
#include "core/metric.h"
#include "core/status.h"

namespace qpscope {

// In the order of the table in event_history.cpp, where a new kind has its row.
enum class HistoryKind : std::uint8_t {
  queue_pair_error, queue_pair_failed, queue_pair_moved_to_error, queue_pair_event, queue_pair_notice, completion_queue_event, shared_receive_queue_event, work_queue_event,
  connection, connection_failed, port_state, port_event, gid_change, device_event, device_added, device_removed, probes, daemon, incident, firmware_command_slow, firmware_command_failed,
};
inline constexpr std::size_t kHistoryKinds = 21;

struct HistoryKindRow {
  HistoryKind kind;
  std::string_view name;    // as the API and the metrics spell it
  Severity severity;        // where an event does not say another
  std::size_t most;         // that are kept
  std::size_t most_minute;  // that are taken within a minute; the rest is counted as dropped
};
std::span<const HistoryKindRow, kHistoryKinds> history_kinds();
std::optional<HistoryKind> history_kind(std::string_view name);

// What is not known is empty. Strings may hold untrusted bytes.
struct HistoryEvent {
  std::uint64_t id = 0;  // given by the history, rising
  BootTime at;
  HistoryKind kind = HistoryKind::daemon;  // given by the history
  std::optional<Severity> severity;
  std::string device;
  PortNum port;  // 0: none
  std::optional<Qpn> qpn, remote_qpn;
  std::string tenant, workload, comm;
  Pid pid;  // 0: none
  std::optional<Gid> remote_gid;
  std::string message;  // one line for people
};
using SharedEvent = std::shared_ptr<const HistoryEvent>;

class EventHistory {
 public:
  // Ids are greater than `before`: give it the time, so that they go on rising over a restart and whoever asks with an old one gets the new events.
  explicit EventHistory(std::uint64_t before = 0) : newest_(before) {}

  // `make` gives the event and is called only where there is room for it this minute. Without the lock: it may take some of its own.
  template <class Make>
  void add(HistoryKind kind, BootTime now, Make&& make) {
    if (admit(kind, now)) keep(kind, make());
  }

  struct Selection {
    std::vector<SharedEvent> events;  // by id
    std::uint64_t newest = 0;         // id of the last event there was, wanted or not
    std::uint64_t dropped = 0;        // since the start, of all kinds
  };
  // Those that came after `after`; empty: all that are kept. One from another boot, which is greater than any here, is behind everything.
  Selection since(std::optional<std::uint64_t> after) const;

  // Counters from the daemon's start, as self_samples().
  SampleList samples() const;

 private:
  struct Kept {
    std::deque<SharedEvent> events;  // by id
    BootTime minute;                 // when it began
    std::size_t in_minute = 0;
    std::uint64_t total = 0, dropped = 0;
  };
  bool admit(HistoryKind kind, BootTime now);
  void keep(HistoryKind kind, HistoryEvent&& event);

  mutable std::mutex mutex_;  // guards what follows
  std::uint64_t newest_;
  std::array<Kept, kHistoryKinds> kinds_;
};

MetricList event_history_metrics();

}  // namespace qpscope
