// SPDX-License-Identifier: Apache-2.0
// A thread that makes files of incidents, since both take time: a disk may hang, and nobody else may.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "core/event_history.h"
#include "core/incident.h"
#include "incident_folder.h"

namespace qpscope {

class IncidentWriter {
 public:
  static constexpr std::size_t kMostWaiting = 2;

  IncidentWriter(IncidentFolder folder, EventHistory& history) : folder_(folder), history_(history) {}
  ~IncidentWriter();  // joins

  // `root`: the descriptor of the root that the folder is in, all that the thread keeps open.
  void start(int root);
  // False where too many wait already: counted, and in the log.
  bool keep(Incident&& incident);
  // What waits is written first. False if it has not ended after so long: it is stuck in the kernel.
  bool stop(double wait_seconds);

  struct Counts {
    std::uint64_t kept = 0, failed = 0;
  };
  Counts counts() const;

 private:
  void run(int root);
  void write(const Incident& incident);

  const IncidentFolder folder_;
  EventHistory& history_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Incident> waiting_;
  Counts counts_;
  bool stopping_ = false, ended_ = true;
  std::thread thread_;  // the owner's
};

}  // namespace qpscope
