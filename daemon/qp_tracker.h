// SPDX-License-Identifier: Apache-2.0
// The queue pair side of the daemon: events, table, owners, netlink. Its threads: the events thread (EventLoop), those of the
// reconcilers, which may block in netlink, and the resolver (Attributor), which reads files. Everything public is for the main
// thread.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attributor.h"
#include "budgets.h"
#include "collectors/host/cgroup.h"
#include "collectors/host/host.h"
#include "config/config.h"
#include "core/cgroup_map.h"
#include "core/qp_table.h"
#include "core/snapshot.h"
#include "core/suspicion.h"
#include "core/tenant_map.h"
#include "dead_qps.h"
#include "event_loop.h"
#include "reconcilers.h"
#include "self_check.h"

namespace qpscope {

class QpTracker {
 public:
  QpTracker(const Host& host, const Config& config, Budgets& budgets);
  ~QpTracker();

  // Probes, cgroup walk, then the reconcilers with the seed. On a root that is not this machine's there is nothing to do.
  // `listening`: the descriptor that the resolver must not hold when it gets stuck.
  void start(int listening);
  // Every queue pair by netlink, on the calling thread, without BPF; instead of start(). Takes as long as the firmware budget wants.
  Result<> pass();
  // Ends the probes and asks the other threads to end. Those that are stuck in the kernel after `wait_seconds`, in words.
  std::vector<std::string> stop(double wait_seconds);

  // The probes are decided and the devices are listed, though one with many queue pairs, or one that hangs, may still be read.
  bool started() const { return !host_.live || (reconcilers_ && reconcilers_->listed()); }
  // Every queue pair that was there before is known.
  bool seeded() const { return !host_.live || (reconcilers_ && reconcilers_->seeded()); }
  bool attributed() const { return attributor_.idle(); }  // no queue pair waits for its tenant
  bool events_on() const { return events_ && events_->queue_pair_events(); }

  // Takes one event over. On the events thread: no files, no waiting. Public for the benchmark of this path.
  void on_event(Event&& event);
  // Fills queue_pairs, tenants and devices of the snapshot. Their samples; the counters among them count from the daemon's start.
  SampleList fill(Snapshot& snapshot);
  // Where to say whose completion errors grow; thread-safe.
  Suspicions& suspicions() { return suspicions_; }
  const EventLoop* events() const { return events_.get(); }
  std::uint64_t tenant_overflows() const { return tenants_.overflows(); }

 private:
  std::unique_ptr<Reconcilers> make_reconcilers();
  void walk_cgroups();
  void on_created(QpCreated& created);
  std::pair<std::shared_ptr<const Owner>, TenantId> attribute(const QpRow& row);
  std::optional<std::string> late_path(const Owner& owner);
  Owner look_up(const Owner& known, BootTime seen);
  void heed_self_check();
  void found_dead(const std::string& device, QpRecord before, BootTime asked, std::optional<BootTime> suspected);

  const Host& host_;
  const Config& config_;
  Budgets& budgets_;
  CgroupMap cgroups_;
  std::optional<CgroupWalk> cgroup_walk_;
  TenantMap tenants_;
  Suspicions suspicions_;
  DeadQps dead_qps_;

  std::mutex table_mutex_;
  QpTable table_;
  Attributor attributor_;

  const bool initial_pids_;       // netlink and BPF mean the same by a pid
  SelfCheck self_check_;          // with table_mutex_

  std::unique_ptr<EventLoop> events_;
  std::unique_ptr<Reconcilers> reconcilers_;  // use all of the above

  // The copy that snapshots share while nothing changes.
  std::shared_ptr<const std::vector<QpRecord>> records_;
  std::uint64_t records_version_ = ~std::uint64_t{0};
  bool records_verified_ = false;
};

}  // namespace qpscope
