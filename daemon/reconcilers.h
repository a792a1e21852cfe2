// SPDX-License-Identifier: Apache-2.0
// A reconciler for each RDMA device that netlink lists, on a thread of its own: a device whose queue pair queries hang in the kernel
// takes only itself away. One more thread lists the devices, which asks no hardware.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "reconciler.h"

namespace qpscope {

class Reconcilers {
 public:
  struct Hooks {
    std::function<std::unique_ptr<QpSource>()> source;                // one for each thread
    std::function<bool(const std::string& device)> watched;           // devices that the configuration leaves out are not asked
    std::function<std::shared_ptr<CommandBudget>(const std::string& device)> budget;  // on the listing thread
    std::function<void()> ticked;                                     // after a device's pass, on its thread
    std::function<void(const std::map<DeviceIndex, std::string>&)> listed = {};  // after each listing that succeeded, on the listing thread
    std::function<void()> ending = {};                                // that thread ends
  };

  Reconcilers(QpTable& table, std::mutex& table_mutex, SelfCheck& self_check, ReconcileOptions options, Reconciler::Hooks device_hooks, Hooks hooks);
  ~Reconcilers();  // joins

  // `kept`: the one descriptor that the hooks need.
  void start(int kept);
  // Lists the devices and visits each once, on the calling thread; instead of start(). The error is the first thing that went
  // wrong; the rest was done.
  Result<> pass();
  // Asks all threads to end. Those that are stuck in the kernel after `wait_seconds`, in words.
  std::vector<std::string> stop(double wait_seconds);

  // Any thread:
  void reseed();        // every device is dumped again
  bool listed() const;  // the devices are known, or cannot be listed
  bool seeded() const;  // they are, and every device's seed is complete
  std::map<DeviceIndex, std::string> devices() const;  // as listed last

 private:
  class Worker;
  enum class Start : bool { no, yes };

  void run(int kept);
  Result<> list(Start start);
  bool stopped_within(double seconds);

  QpTable& table_;
  std::mutex& table_mutex_;
  SelfCheck& self_check_;
  const ReconcileOptions options_;
  const Reconciler::Hooks device_hooks_;
  const Hooks hooks_;
  std::unique_ptr<QpSource> source_;  // of the listing thread
  std::thread thread_;

  mutable std::mutex mutex_;  // guards what follows; the listing thread alone changes workers_
  std::condition_variable wake_;
  std::map<DeviceIndex, std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Worker>> retired_;  // of devices that went away; their threads may be stuck
  bool listed_ = false, stopping_ = false, ended_ = true;
};

}  // namespace qpscope
