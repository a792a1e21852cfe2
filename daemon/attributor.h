// SPDX-License-Identifier: Apache-2.0
// The resolver thread: takes queue pairs that wait for their tenant, looks at their owners and asks the sources. Files may
// block (a process's memory, a network file system), so nobody else waits for it, and it may be left behind.
//
// What waits is kept in the tables (QpTable::take_waiting, DevxTable, MemoryTable): bounded by it, and gone with the queue pair. Owners whose names are
// not there yet are asked again every few seconds.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/clock.h"
#include "core/devx_table.h"
#include "core/memory_table.h"
#include "core/qp_table.h"
#include "core/tenant_map.h"

namespace qpscope {

class Attributor {
 public:
  // Completes an owner by what files say. `seen`: its process lived then. On the resolver thread.
  using LookUp = std::function<Owner(const Owner& known, BootTime seen)>;

  // `done`: called after every round, by its thread.
  Attributor(QpTable& table, DevxTable& devx, MemoryTable& memory, std::mutex& table_mutex, TenantMap& tenants, ClockFn now, LookUp look_up, std::function<void()> done = {});
  ~Attributor();

  // One round on the calling thread; instead of start().
  void pass();
  // `kept`: the descriptors that the thread needs. All others it lets go of: stuck, it must not hold the listening socket, and at no time the links
  // of the probes, which would stay attached by them when the probes are closed.
  void start(std::vector<int> kept);
  // Queue pairs may wait. Any thread, cheap.
  void wake();
  // Who somebody is who has no queue pair: `answer` is called on the resolver's thread, once. False where kMostAsks wait already. Any thread.
  using AnswerFn = std::function<void(const Owner& owner, const Tenant& tenant)>;
  static constexpr std::size_t kMostAsks = 1024;
  bool ask(Owner owner, BootTime seen, AnswerFn answer);
  // Asks the thread to end; false if it is stuck in the kernel after `wait_seconds`.
  bool stop(double wait_seconds);
  bool idle() const { return idle_; }  // nothing waits; true before start(). Any thread

 private:
  struct Ask {
    Owner owner;
    BootTime seen;
    AnswerFn answer;
  };
  void run(const std::vector<int>& kept);

  QpTable& table_;
  DevxTable& devx_;
  MemoryTable& memory_;
  std::mutex& table_mutex_;
  TenantMap& tenants_;
  const ClockFn now_;
  const LookUp look_up_;
  const std::function<void()> done_;
  std::atomic<bool> idle_ = true;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Ask> asks_;
  bool work_ = false, stopping_ = false, ended_ = true;
  std::thread thread_;
};

}  // namespace qpscope
