// SPDX-License-Identifier: Apache-2.0
// One device, one thread: runs that device's collectors on their clocks and keeps what they last said. A device that hangs
// in the kernel stops its own thread and nothing else.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "budgets.h"
#include "collectors/host/host.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/collector.h"
#include "core/state_image.h"
#include "counter_sets.h"

namespace qpscope {

class DeviceSampler {
 public:
  // What is known of the device. Copies are cheap: samples are shared.
  struct Output {
    std::string_view collector;
    Clock clock = Clock::fast;
    double interval = 0;        // seconds between two passes: as configured, or longer to stay within the firmware budget
    SharedSamples samples;      // of the last pass that succeeded
    SharedQpCounters qp_counters;  // the same
    BootTime last_success;      // 0: none yet
    bool tried = false;         // a pass has ended
    bool success = false;       // of the last pass
    double duration = 0;        // seconds, of the last pass
    double rest = 0;            // seconds that the collector asked to be left alone for (Reading::rest)
    std::string trouble;        // of the last pass: the first thing that went wrong, and how many did
    std::size_t troubles = 0;
  };
  struct State {
    std::vector<Output> outputs;
    std::map<ReadErrors::Key, std::uint64_t> errors;
    DeviceLedger ledger;        // at least as new as the samples
    SampleList sets;            // of CounterSets
  };

  // Totals go on from the device's image, if it has one. `identity`: Sysroot::identity of its folder.
  DeviceSampler(const Host& host, DeviceLedger device, const Config& config, Budgets& budgets, ClockFn now, std::uint64_t identity = 0);
  ~DeviceSampler();  // joins

  void start();
  // Asks the thread to end; it may be stuck in the kernel, or first give counter sets back. From here on another sampler may have the
  // device's name.
  void request_stop();
  bool giving_back() const { return giving_back_; }
  // True once the thread has ended; waits at most so long.
  bool finished_within(double seconds);
  // One full pass of every collector on the calling thread, for --once. Never together with start().
  void pass();

  // What is on the slow clock is due now. Any thread.
  void look_again();
  // This image of the ledger is in the state file now.
  void saved(std::shared_ptr<const LedgerImage> image);
  // CounterSets::focus_on.
  Result<> focus_on(Qpn qpn, double seconds);

  const std::string& device() const { return device_; }
  std::uint64_t identity() const { return identity_; }
  State state() const;

 private:
  struct Slot {
    const CollectorRow* row;
    std::unique_ptr<Collector> collector;
    BootTime due;
    double commands = 0;  // firmware commands of the last pass
    double rest = 0;      // Reading::rest of the last pass
    double interval = 0;  // seconds; see fit_intervals()
    bool troubled = false;
  };
  void run();
  double configured(const Slot& slot) const { return slot.row->clock == Clock::fast ? config_.interval : config_.slow_interval; }
  Slot* most_overdue(BootTime now);
  void fit_intervals();
  void follow_shape();
  void collect(Slot& slot, std::size_t index);
  bool drive_sets();
  void give_sets_back();
  void keep_ledger();
  std::shared_ptr<const LedgerImage> new_image();
  void wake();
  void log_trouble(Slot& slot, const std::string& trouble, std::size_t troubles);
  void log_notes(const Slot& slot, const std::vector<std::string>& notes);

  const Host& host_;
  const std::string device_;
  const std::uint64_t identity_;
  const SamplingConfig config_;
  std::unique_ptr<CounterSets> sets_;  // null: without netlink or queue pairs
  Budgets& budgets_;
  const ClockFn now_;
  std::shared_ptr<CommandBudget> budget_;  // the thread's own pointer
  std::vector<Slot> slots_;  // the thread's own
  std::string shape_;        // the thread's own: what the collectors were made for
  ReadErrors errors_;        // the thread's own
  CounterLedger ledger_;     // the thread's own
  BootTime image_at_;        // the thread's own: when the ledger was last put into state_
  std::set<std::string> said_;  // the thread's own: notes that are in the log; kMostNotes at most
  bool listening_ = false;  // to news of queue pairs; the owner's thread's
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  State state_;
  std::shared_ptr<const LedgerImage> saved_;
  bool stop_ = false, news_ = false, look_again_ = false;
  bool finished_ = true;
  std::atomic<bool> giving_back_ = false;
  std::thread thread_;
};

// Old is not now: a device that hangs loses its samples, each `stale_after` seconds after its last success.
inline bool stale(const DeviceSampler::Output& output, BootTime now, double stale_after) {
  return seconds(now, output.last_success) > std::max(stale_after, 2 * output.interval);
}

}  // namespace qpscope
