// SPDX-License-Identifier: Apache-2.0
#include "core/event_history.h"

#include <algorithm>

namespace qpscope {
namespace {

constexpr double kMinute = 60;

using enum HistoryKind;
constexpr std::array<HistoryKindRow, kHistoryKinds> kRows{{
    {queue_pair_error, "queue_pair_error", Severity::error, 768, 512},
    {queue_pair_failed, "queue_pair_failed", Severity::warning, 192, 60},  // a program may try for ever
    {queue_pair_moved_to_error, "queue_pair_moved_to_error", Severity::info, 256, 60},  // rdma_disconnect does so
    {queue_pair_event, "queue_pair_event", Severity::error, 512, 512},
    {queue_pair_notice, "queue_pair_notice", Severity::info, 128, 120},  // no fault: others must not lose their room to them
    {completion_queue_event, "completion_queue_event", Severity::error, 64, 60},
    {shared_receive_queue_event, "shared_receive_queue_event", Severity::error, 64, 60},
    {work_queue_event, "work_queue_event", Severity::error, 32, 60},
    {connection, "connection", Severity::info, 128, 120},
    {connection_failed, "connection_failed", Severity::warning, 256, 120},
    {port_state, "port_state", Severity::warning, 512, 512},
    {port_event, "port_event", Severity::info, 128, 120},
    {gid_change, "gid_change", Severity::info, 64, 60},
    {device_event, "device_event", Severity::error, 64, 60},
    {device_added, "device_added", Severity::info, 128, 128},
    {device_removed, "device_removed", Severity::warning, 128, 128},
    {probes, "probes", Severity::info, 128, 30},
    {HistoryKind::daemon, "daemon", Severity::info, 32, 30},
    {incident, "incident", Severity::error, 128, 30},  // what happened is kept in a file
    {firmware_command_slow, "firmware_command_slow", Severity::warning, 64, 30},
    {firmware_command_failed, "firmware_command_failed", Severity::warning, 64, 30},  // a program may try for ever
}};
static_assert(std::ranges::all_of(kRows, [](const HistoryKindRow& row) { return &row == &kRows[static_cast<std::size_t>(row.kind)]; }), "in the order of the kinds");

constexpr LabelNames kKind{"kind"};
constexpr MetricDef kEvents{"qpscope_events_total", MetricType::counter, "What happened, by kind, as /api/v1/events tells it one by one (event history).", kKind};
constexpr MetricDef kDropped{"qpscope_events_dropped_total", MetricType::counter,
                             "Events that /api/v1/events does not tell, since too many of the kind came within a minute (event history).", kKind};
constexpr std::array<const MetricDef*, 2> kMetrics{&kEvents, &kDropped};

}  // namespace

MetricList event_history_metrics() { return kMetrics; }

std::span<const HistoryKindRow, kHistoryKinds> history_kinds() { return kRows; }

std::optional<HistoryKind> history_kind(std::string_view name) {
  const auto row = std::ranges::find(kRows, name, &HistoryKindRow::name);
  return row == kRows.end() ? std::nullopt : std::optional(row->kind);
}

bool EventHistory::admit(HistoryKind kind, BootTime now) {
  const std::lock_guard lock(mutex_);
  Kept& kept = kinds_[static_cast<std::size_t>(kind)];
  ++kept.total;
  if (kept.in_minute == 0 || seconds(now, kept.minute) >= kMinute) {
    kept.minute = now;
    kept.in_minute = 0;
  }
  if (kept.in_minute == kRows[static_cast<std::size_t>(kind)].most_minute) {
    ++kept.dropped;
    return false;
  }
  ++kept.in_minute;
  return true;
}

void EventHistory::keep(HistoryKind kind, HistoryEvent&& event) {
  auto shared = std::make_shared<HistoryEvent>(std::move(event));
  shared->kind = kind;
  const std::lock_guard lock(mutex_);
  shared->id = ++newest_;
  std::deque<SharedEvent>& events = kinds_[static_cast<std::size_t>(kind)].events;
  events.push_back(std::move(shared));
  if (events.size() > kRows[static_cast<std::size_t>(kind)].most) events.pop_front();
}

EventHistory::Selection EventHistory::since(std::optional<std::uint64_t> after) const {
  Selection out;
  {
    const std::lock_guard lock(mutex_);
    out.newest = newest_;
    for (const Kept& kept : kinds_) {
      out.dropped += kept.dropped;
      const auto first = std::ranges::upper_bound(kept.events, after.value_or(0), {}, &HistoryEvent::id);
      out.events.insert(out.events.end(), first, kept.events.end());
    }
  }
  std::ranges::sort(out.events, {}, [](const SharedEvent& one) { return one->id; });
  return out;
}

SampleList EventHistory::samples() const {
  const std::lock_guard lock(mutex_);
  SampleList out;
  for (const HistoryKindRow& row : kRows) out.push_back(sample(kEvents, {row.name}, static_cast<double>(kinds_[static_cast<std::size_t>(row.kind)].total)));
  for (const HistoryKindRow& row : kRows) out.push_back(sample(kDropped, {row.name}, static_cast<double>(kinds_[static_cast<std::size_t>(row.kind)].dropped)));
  return out;
}

}  // namespace qpscope
