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
#include <vector>

#include "attributor.h"
#include "budgets.h"
#include "collectors/host/cgroup.h"
#include "collectors/host/host.h"
#include "config/config.h"
#include "core/cgroup_map.h"
#include "core/qp_directory.h"
#include "core/qp_table.h"
#include "core/snapshot.h"
#include "core/tenant_map.h"
#include "event_loop.h"
#include "nldev_source.h"
#include "reconciler.h"
#include "self_check.h"

namespace qpscope {

class QpTracker : public QpDirectory {
 public:
  QpTracker(const Host& host, const Config& config, Budgets& budgets);
  ~QpTracker() override;

  // Probes, cgroup walk, then the reconcile thread with the seed. On a root that is not this machine's there is nothing to do.
  // `listening`: the descriptors that the reconcile thread and the resolver must not hold when they get stuck.
  void start(const std::vector<int>& listening);
  // Every queue pair by netlink, on the calling thread, without BPF; instead of start(). Takes as long as the firmware budget wants.
  Result<> pass();
  // Ends the probes and asks the reconcile thread and the resolver to end; false if one is stuck in the kernel after `wait_seconds`.
  bool stop(double wait_seconds);

  // The probes are decided and the first netlink pass is done, though a device with many queue pairs may still be read.
  bool started() const { return started_; }
  // Every queue pair that was there before is known.
  bool seeded() const { return seeded_; }
  bool attributed() const { return attributor_.idle(); }  // no queue pair waits for its tenant
  bool events_on() const override { return events_ && events_->queue_pair_events(); }

  // Takes one event over. On the events thread: no files, no waiting. Public for the benchmark of this path.
  void on_event(Event&& event);
  // Fills queue_pairs, tenants and devices of the snapshot. Their samples; the counters among them count from the daemon's start.
  SampleList fill(Snapshot& snapshot);
  const EventLoop* events() const { return events_.get(); }
  std::uint64_t tenant_overflows() const { return tenants_.overflows(); }

  // --- QpDirectory: any thread
  void catch_up() override;
  bool all_known() const override { return seeded() && attributed(); }
  std::vector<CountableQp> take_countable(const std::string& device, std::size_t most) override;
  void retell(const std::string& device) override;
  std::optional<CountableQp> find(const std::string& device, QpKey key) override;
  std::optional<CountableQp> holder(const std::string& device, PortNum port, Qpn qpn) override;
  std::size_t countable(const std::string& device, PortNum port) override;
  Released take_released(const std::string& device) override;
  void on_news(const std::string& device, std::function<void()> wake) override;

 private:
  std::unique_ptr<Reconciler> make_reconciler();
  void walk_cgroups();
  void on_created(QpCreated& created);
  std::pair<std::shared_ptr<const Owner>, TenantId> attribute(const QpRow& row);
  std::optional<std::string> late_path(const Owner& owner);
  Owner look_up(const Owner& known, BootTime seen);
  void reconcile_loop(const std::vector<int>& listening);
  void take_over(const Reconciler& reconciler);
  std::optional<DeviceIndex> index_of(const std::string& device);
  bool verified();
  std::optional<CountableQp> describe(const QpRecord* record);
  void keep_release(CounterReleased&& event);
  void tell_news(DeviceIndex device);
  void tell_news();

  const Host& host_;
  const Config& config_;
  Budgets& budgets_;
  CgroupMap cgroups_;
  std::optional<CgroupWalk> cgroup_walk_;
  TenantMap tenants_;
  NldevSource source_;

  std::mutex table_mutex_;
  QpTable table_;
  Attributor attributor_;

  const bool initial_pids_;       // netlink and BPF mean the same by a pid
  SelfCheck self_check_;          // the reconcile thread's
  std::mutex shared_mutex_;       // guards what follows
  bool owners_verified_ = false;
  std::shared_ptr<const std::map<DeviceIndex, std::string>> device_names_;
  std::map<DeviceIndex, Released> released_;
  std::map<std::string, std::function<void()>> wakers_;  // by device

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
  std::shared_ptr<const std::map<DeviceIndex, std::string>> records_devices_;
};

}  // namespace qpscope
