// SPDX-License-Identifier: Apache-2.0
#include "incident_writer.h"

#include <chrono>
#include <string>
#include <utility>

#include "core/log.h"
#include "exporters/incident/incident_json.h"
#include "own_files.h"

namespace qpscope {

IncidentWriter::~IncidentWriter() {
  stop(0);
  if (thread_.joinable()) thread_.join();
}

void IncidentWriter::start(int root) {
  ended_ = false;
  thread_ = std::thread([this, root] { run(root); });
}

bool IncidentWriter::keep(Incident&& incident) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < kMostWaiting && !stopping_) {
      waiting_.push_back(std::move(incident));
      changed_.notify_all();
      return true;
    }
    ++counts_.failed;
  }
  log::warning("incident " + incident.id + " is not kept: others wait to be written to " + kIncidentFolder);
  return false;
}

bool IncidentWriter::stop(double wait_seconds) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, std::chrono::duration<double>(wait_seconds), [this] { return ended_; });
}

IncidentWriter::Counts IncidentWriter::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void IncidentWriter::run(int root) {
  if (!keep_only({root})) log::debug("incidents: no descriptor table of its own");
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) break;
    const Incident incident = std::move(waiting_.front());
    lock.unlock();
    write(incident);
    lock.lock();
    waiting_.pop_front();  // now: until it is written it waits
  }
  ended_ = true;
  changed_.notify_all();
}

void IncidentWriter::write(const Incident& incident) {
  const IncidentText text = incident_text(incident);
  const auto kept = folder_.keep(incident.id, text.json);
  {
    const std::lock_guard lock(mutex_);
    ++(kept ? counts_.kept : counts_.failed);
  }
  if (!kept) return log::warning("incident " + incident.id + " cannot be kept: " + kept.error().what);
  log::warning("incident " + incident.id + " (qpscope incidents show): " + text.summary);
  const Trigger& why = incident.triggers.front();
  history_.add(HistoryKind::incident, incident.snapshot->at, [&] {
    return HistoryEvent{.at = incident.snapshot->at, .device = why.device, .port = why.port, .tenant = why.tenant, .workload = why.workload,
                        .message = "incident " + incident.id + ": " + text.summary};
  });
}

}  // namespace qpscope
