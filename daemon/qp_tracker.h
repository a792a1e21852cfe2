// SPDX-License-Identifier: Apache-2.0
// The queue pair side of the daemon: events, table, owners, netlink. Three threads of its own: the events thread (EventLoop), the
// reconcile thread, which may block in netlink, and the resolver (Attributor), which reads files. Everything public is for the
// main thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "attributor.h"
#include "budgets.h"
#include "collectors/host/cgroup.h"
#include "collectors/host/host.h"
#include "config/config.h"
#include "core/cgroup_map.h"
#include "core/qp_table.h"
#include "core/snapshot.h"
#include "core/tenant_map.h"
#include "event_loop.h"
#include "nldev_source.h"
#include "port_ownership.h"
#include "reconciler.h"
#include "self_check.h"

namespace qpscope {

class QpTracker {
 public:
  QpTracker(const Host& host, const Config& config, Budgets& budgets);
  ~QpTracker();

  // Probes, cgroup walk, then the reconcile thread with the seed. On a root that is not this machine's there is nothing to do.
  // `listening`: the descriptor that the reconcile thread must not hold when it gets stuck in netlink.
  void start(int listening);
  // Every queue pair by netlink, on the calling thread, without BPF; instead of start(). Takes as long as the firmware budget wants.
  Result<> pass();
  // Ends the probes and asks the reconcile thread and the resolver to end; false if one is stuck in the kernel after `wait_seconds`.
  bool stop(double wait_seconds);

  // The probes are decided and the first netlink pass is done, though a device with many queue pairs may still be read.
  bool started() const { return started_; }
  // Every queue pair that was there before is known.
  bool seeded() const { return seeded_; }
  bool attributed() const { return attributor_.idle(); }  // no queue pair waits for its tenant
  bool events_on() const { return events_ && events_->queue_pair_events(); }

  // Takes one event over. On the events thread: no files, no waiting. Public for the benchmark of this path.
  void on_event(Event&& event);
  // Fills queue_pairs, tenants and devices of the snapshot. Their samples; the counters among them count from the daemon's start.
  SampleList fill(Snapshot& snapshot);
  const EventLoop* events() const { return events_.get(); }
  Ownership& ownership() { return ownership_; }
  std::uint64_t tenant_overflows() const { return tenants_.overflows(); }

 private:
  std::unique_ptr<Reconciler> make_reconciler();
  void walk_cgroups();
  void on_created(QpCreated& created);
  void on_devx(DevxObject& object);
  PortOwnership::Hooks ownership_hooks();
  std::pair<std::shared_ptr<const Owner>, TenantId> attribute(const QpRow& row);
  std::optional<std::string> late_path(const Owner& owner);
  Owner look_up(const Owner& known, BootTime seen);
  void reconcile_loop(int listening);
  void take_over(const Reconciler& reconciler);

  const Host& host_;
  const Config& config_;
  Budgets& budgets_;
  CgroupMap cgroups_;
  std::optional<CgroupWalk> cgroup_walk_;
  TenantMap tenants_;
  NldevSource source_;

  std::mutex table_mutex_;
  QpTable table_;
  DevxTable devx_;  // with table_mutex_ too
  Attributor attributor_;

  const bool initial_pids_;       // netlink and BPF mean the same by a pid
  SelfCheck self_check_;          // the reconcile thread's
  std::mutex shared_mutex_;       // guards the two below
  bool owners_verified_ = false;
  std::shared_ptr<const std::map<DeviceIndex, std::string>> device_names_;
  PortOwnership ownership_;

  std::unique_ptr<EventLoop> events_;
  std::unique_ptr<Reconciler> reconciler_;
  std::thread reconcile_thread_;
  std::mutex stop_mutex_;
  std::condition_variable stop_wake_;
  bool stopping_ = false;  // with stop_mutex_
  bool ended_ = true;      // with stop_mutex_
  std::atomic<bool> started_ = false, seeded_ = false;

  // The copy that snapshots share while nothing changes.
  std::shared_ptr<const std::vector<QpRecord>> records_;
  std::uint64_t records_version_ = ~std::uint64_t{0};
  bool records_verified_ = false;
};

}  // namespace qpscope
