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
#include "core/event_history.h"
#include "core/qp_endings.h"
#include "core/qp_directory.h"
#include "core/qp_table.h"
#include "core/snapshot.h"
#include "core/suspicion.h"
#include "core/tenant_map.h"
#include "dead_qps.h"
#include "event_loop.h"
#include "kernel_events.h"
#include "memory_survey.h"
#include "nldev_source.h"
#include "port_ownership.h"
#include "reconcilers.h"
#include "self_check.h"

namespace qpscope {

class QpTracker : public QpDirectory {
 public:
  QpTracker(const Host& host, const Config& config, Budgets& budgets, EventHistory& history);
  ~QpTracker() override;

  // Probes, cgroup walk, then the reconcilers with the seed. On a root that is not this machine's there is nothing to do.
  void start();
  // Every queue pair by netlink, on the calling thread, without BPF; instead of start(). Takes as long as the firmware budget wants.
  Result<> pass();
  // Ends the probes and asks the other threads to end. Those that are stuck in the kernel after `wait_seconds`, in words.
  std::vector<std::string> stop(double wait_seconds);

  // The probes are decided and the devices are listed, though one with many queue pairs, or one that hangs, may still be read.
  bool started() const { return !host_.live || (reconcilers_ && reconcilers_->listed()); }
  // Every queue pair that was there before is known.
  bool seeded() const { return !host_.live || (reconcilers_ && reconcilers_->seeded()); }
  bool attributed() const { return attributor_.idle(); }  // no queue pair waits for its tenant
  bool events_on() const override { return events_ && events_->queue_pair_events(); }

  // Takes one event over. On the events thread: no files, no waiting. Public for the benchmark of this path.
  void on_event(Event&& event);
  // Fills queue_pairs, tenants and devices of the snapshot. Their samples; the counters among them count from the daemon's start.
  SampleList fill(Snapshot& snapshot);
  // The queue pairs that ended; before fill(), whose snapshot then knows their tenants.
  QpEndings::Selection endings(std::uint64_t after);
  KernelEvents& kernel_events() { return kernel_events_; }
  // Where to say whose completion errors grow; thread-safe.
  Suspicions& suspicions() { return suspicions_; }
  const EventLoop* events() const { return events_.get(); }
  EventLoop* events() { return events_.get(); }
  Ownership& ownership() { return ownership_; }
  std::optional<TenantId> tenant(const std::string& tenant, const std::string& workload) const { return tenants_.find(tenant, workload); }
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
  std::unique_ptr<Reconcilers> make_reconcilers();
  void walk_cgroups();
  void on_created(QpCreated& created);
  void on_devx(DevxObject& object);
  PortOwnership::Hooks ownership_hooks();
  std::pair<std::shared_ptr<const Owner>, TenantId> attribute(const QpRow& row);
  std::optional<std::string> late_path(const Owner& owner);
  Owner look_up(const Owner& known, BootTime seen);
  void heed_self_check();
  void on_async(const AsyncEvent& event);
  void tell_moved_to_error(const QpModified& modified);
  KernelEvents::Hooks kernel_event_hooks();
  std::string name_of(DeviceIndex device);
  const QpRecord* record_of(const QpIdentity& qp) const;
  void note_end(QpEnding::How how, const QpIdentity& qp, BootTime at);
  void forget_serials();
  void heed_openings();
  void tell_failed(const QpCallFailed& failed);
  void found_dead(const std::string& device, QpRecord before, BootTime asked, std::optional<BootTime> suspected);
  std::optional<DeviceIndex> index_of(const std::string& device);
  void refresh_names();
  std::optional<CountableQp> describe(const QpRecord* record);
  void keep_release(CounterReleased&& event);
  void tell_news(DeviceIndex device);
  void tell_news();

  const Host& host_;
  const Config& config_;
  Budgets& budgets_;
  EventHistory& history_;
  CgroupMap cgroups_;
  std::optional<CgroupWalk> cgroup_walk_;
  TenantMap tenants_;
  Suspicions suspicions_;
  DeadQps dead_qps_;
  QpEndings endings_;

  std::mutex shared_mutex_;  // guards what follows
  std::shared_ptr<const std::map<DeviceIndex, std::string>> device_names_;
  std::map<DeviceIndex, Released> released_;
  std::map<std::string, std::function<void()>> wakers_;  // by device

  std::mutex table_mutex_;
  QpTable table_;
  DevxTable devx_;  // with table_mutex_ too
  MemoryTable memory_;  // the same
  Attributor attributor_;

  KernelEvents kernel_events_;

  const bool initial_pids_;       // netlink and BPF mean the same by a pid
  SelfCheck self_check_;          // with table_mutex_
  bool told_ = false;             // with table_mutex_: BPF has told of a queue pair or another object
  NldevSource survey_source_;     // the listing thread's
  PortOwnership ownership_;
  MemorySurvey memory_survey_;    // the same thread's

  std::unique_ptr<EventLoop> events_;
  std::uint64_t openings_heeded_ = 0;
  std::unique_ptr<Reconcilers> reconcilers_;  // use all of the above

  // The copy that snapshots share while nothing changes.
  std::shared_ptr<const std::vector<QpRecord>> records_;
  std::uint64_t records_version_ = ~std::uint64_t{0};
  bool records_verified_ = false;
  std::shared_ptr<const std::map<DeviceIndex, std::string>> records_devices_;
};

}  // namespace qpscope
