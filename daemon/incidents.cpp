// SPDX-License-Identifier: Apache-2.0
#include "incidents.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "clock.h"

namespace qpscope {
namespace {

constexpr LabelNames kTrigger{"trigger"};
constexpr LabelNames kOutcome{"outcome"};
constexpr MetricDef kTriggers{"qpscope_incident_triggers_total", MetricType::counter, "What the flight recorder was frozen for; several may be of one incident (flight recorder).", kTrigger};
constexpr MetricDef kIncidents{"qpscope_incidents_total", MetricType::counter, "Incidents that were kept, or could not be (/var/lib/qpscope/incidents).", kOutcome};
constexpr MetricDef kHeld{"qpscope_recorder_seconds", MetricType::gauge, "Seconds that the flight recorder holds (flight recorder).", {}};
constexpr MetricDef kLeftOut{"qpscope_recorder_series_left_out", MetricType::gauge, "Series for which the flight recorder has no room (flight recorder).", {}};
constexpr std::array<const MetricDef*, 4> kMetrics{&kTriggers, &kIncidents, &kHeld, &kLeftOut};

constexpr std::uint64_t kMebibyte = 1U << 20;

}  // namespace

MetricList incident_metrics() { return kMetrics; }

Incidents::Incidents(const RecorderConfig& config, const Sysroot& root, EventHistory& history, Hooks hooks)
    : on_(config.enabled && root.exists("/var/lib")),
      history_(history),
      hooks_(std::move(hooks)),
      triggers_({.deaths = config.queue_pair_deaths, .stall_seconds = config.stall, .silent_seconds = config.firmware_stall}),
      writer_(IncidentFolder(root, config.incidents, config.incidents_mib * kMebibyte), history) {}

void Incidents::start(int root) {
  if (on()) writer_.start(root);
}

void Incidents::gather() {
  if (!on()) return;
  take_requests();
  if (pending_ && boot_now() >= pending_->due) {
    requested_.push_back(std::move(*pending_));
    pending_.reset();
  }
  QpEndings::Selection fresh = hooks_.endings(seen_ending_);
  seen_ending_ = fresh.newest;
  ended_ = std::move(fresh.endings);
  all_ = requested_.empty() ? QpEndings::Selection() : hooks_.endings(0);
}

void Incidents::take_requests() {
  const std::lock_guard lock(mutex_);
  std::ranges::move(requests_, std::back_inserter(requested_));
  requests_.clear();
}

void Incidents::look(const std::shared_ptr<const Snapshot>& snapshot, const IncidentTriggers::Silent& silent) {
  if (!on()) return;
  snapshot_ = snapshot;
  recorder_.take(snapshot->samples, snapshot->at);
  const EventHistory::Selection news = history_.since(seen_event_);
  seen_event_ = news.newest;
  begin(triggers_.look(*snapshot, recorder_, ended_, news.events, silent), snapshot->at);
  ended_.clear();
  for (Pending& one : requested_) freeze(std::move(one));
  requested_.clear();
  all_ = {};
}

// What is told while one is under way belongs to that.
void Incidents::begin(std::vector<Trigger> triggers, BootTime now) {
  for (Trigger& one : triggers) {
    ++told_[static_cast<std::size_t>(one.kind)];
    if (!pending_) pending_ = Pending{.triggers = {}, .due = after(now, kAfterSeconds), .id = {}};
    if (pending_->triggers.size() < kMostTriggers) pending_->triggers.push_back(std::move(one));
  }
}

void Incidents::freeze(Pending&& pending) {
  const Trigger& why = pending.triggers.front();
  if (why.kind == Trigger::Kind::request) ++told_[static_cast<std::size_t>(why.kind)];
  Incident out{.id = pending.id.empty() ? new_id(why.kind, why.at) : std::move(pending.id), .triggers = {}, .wall_minus_boot = hooks_.wall_minus_boot(), .snapshot = snapshot_,
               .window = recorder_.window(), .endings = all_, .events = {}};
  out.triggers = std::move(pending.triggers);
  const BootTime began = out.window.began;
  std::erase_if(out.endings.endings, [&](const QpEnding& one) { return one.at < began; });
  out.events = history_.since(std::nullopt).events;
  std::erase_if(out.events, [&](const SharedEvent& one) { return one->at < began; });
  writer_.keep(std::move(out));
}

std::string Incidents::new_id(Trigger::Kind kind, BootTime at) {
  const auto wall = static_cast<std::time_t>(static_cast<double>(at.value) / 1e9 + hooks_.wall_minus_boot());
  std::tm utc{};
  ::gmtime_r(&wall, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ-", &utc);
  std::string id = std::string(text.data()) + std::string(to_string(kind));
  const std::lock_guard lock(mutex_);
  if (id != last_id_) {
    last_id_ = id;
    same_ = 1;
    return id;
  }
  return id + "-" + std::to_string(++same_);
}

Result<std::string> Incidents::request(const std::string& reason) {
  if (!on()) return fail(ErrorCode::unsupported, "the flight recorder is off: recorder.enabled in the configuration, or there is no /var/lib");
  const BootTime now = boot_now();
  std::string id = new_id(Trigger::Kind::request, now);
  const std::lock_guard lock(mutex_);
  if (requests_.size() == kMostRequests) return fail(ErrorCode::limit, "others have asked just now");
  requests_.push_back({.triggers = {Trigger{.at = now, .kind = Trigger::Kind::request, .device = {}, .tenant = {}, .workload = {}, .port = {},
                                            .message = reason.empty() ? "somebody asked for it" : reason}},
                       .due = now,
                       .id = id});
  return id;
}

bool Incidents::stop(double wait_seconds) {
  if (!on()) return true;
  take_requests();
  if (pending_) requested_.push_back(std::move(*std::exchange(pending_, std::nullopt)));
  if (snapshot_ && !requested_.empty()) {
    all_ = hooks_.endings(0);
    // The snapshot is older than what ended since, whose tenant it may not know.
    std::erase_if(all_.endings, [&](const QpEnding& one) { return one.qp.tenant >= snapshot_->tenants->size(); });
    for (Pending& one : requested_) freeze(std::move(one));
  }
  return writer_.stop(wait_seconds);
}

SampleList Incidents::samples() const {
  SampleList out;
  if (!on()) return out;
  for (std::size_t i = 0; i < kTriggerKinds; ++i) out.push_back(sample(kTriggers, {to_string(static_cast<Trigger::Kind>(i))}, static_cast<double>(told_[i])));
  const IncidentWriter::Counts counts = writer_.counts();
  out.push_back(sample(kIncidents, {"kept"}, static_cast<double>(counts.kept)));
  out.push_back(sample(kIncidents, {"failed"}, static_cast<double>(counts.failed)));
  out.push_back(sample(kHeld, {}, static_cast<double>(recorder_.seconds_held())));
  out.push_back(sample(kLeftOut, {}, static_cast<double>(recorder_.left_out())));
  return out;
}

}  // namespace qpscope
