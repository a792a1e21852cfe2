// SPDX-License-Identifier: Apache-2.0
// The events thread: owns the probes, hands every event to one sink, opens the probes again when a module that they attach to comes or goes, and
// lets go of them for a while where somebody asks for it (links of trampolines hold such a module).
// Never blocks on anything but the ring, reads no files on the way of an event.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bpf/probe_set.h"
#include "config/config.h"
#include "core/event.h"

namespace qpscope {

ProbeOptions probe_options(const BpfConfig& config);

class EventLoop {
 public:
  using Sink = std::function<void(Event&&)>;

  // `closed`: called on the events thread between two probe sets, where events are missed and after which serials are others. No events
  // are delivered meanwhile.
  EventLoop(BpfConfig config, Sink sink, std::function<void()> closed);
  ~EventLoop();

  // Loads and attaches, then starts the thread. Never fails: without BPF the status says why.
  void start();
  // Ends the thread and detaches everything. What was counted stays readable. Idempotent; the owner's thread.
  void stop();
  // Everything the kernel submitted before the call has been delivered when it returns. Any thread.
  void drain();
  // Detaches everything soon, for so many seconds or until resume(). What will be, for people. Any thread.
  std::string suspend(std::uint32_t seconds);
  std::string resume();
  // For how long it still is so; nullopt: it is not. Any thread.
  std::optional<double> suspended() const;
  // For good: what the probes say is not to be trusted. Any thread; the thread lets go soon.
  void condemn(const std::string& reason);

  bool queue_pair_events() const { return queue_pair_events_; }  // are creates, modifies and destroys all seen? Any thread
  bool devx_events() const { return devx_events_; }              // are DEVX objects seen, or can there be none? Any thread
  std::uint64_t openings() const { return openings_; }           // of probe sets: between two of them events are missed. Any thread
  std::vector<ProbeStatus> status() const;                       // with runs as of the last losses(); any thread
  EventLosses losses() const;                                    // asks the kernel: threads that share the daemon's descriptors
  FirmwareCommands commands() const;                             // the same
  std::uint64_t losses_known() const { return losses_known_; }   // their sum when they were last asked for; any thread
  BootTime losses_asked() const { return {losses_asked_}; }      // when that was, or earlier than what losses_known() says afterwards; any thread
  std::map<std::string, std::uint64_t> counts() const;           // events by kind; any thread
  // What the kernel side counted of what is not told one by one when there is too much of it. Asks the kernel, as losses().
  std::vector<EventCount> kernel_counts() const;

 private:
  void open();
  void close(const std::string& reason);
  void run();
  void live();
  void deliver(Event&& event);

  const BpfConfig config_;
  const Sink sink_;
  const std::function<void()> closed_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable woken_;
  bool running_ = false;      // the thread looks at what is asked of it
  std::optional<BootTime> suspended_until_;
  std::unique_ptr<ProbeSet> probes_;
  mutable std::vector<ProbeStatus> status_;  // its runs are written by losses()
  EventLosses past_losses_;  // of probe sets that were closed
  std::vector<EventCount> past_counts_;  // the same
  FirmwareCommands past_commands_;  // likewise
  std::string condemned_;
  std::array<std::atomic<std::uint64_t>, std::variant_size_v<Event>> counts_{};
  std::atomic<bool> queue_pair_events_ = false, devx_events_ = false;
  std::atomic<std::uint64_t> openings_ = 0;
  mutable std::atomic<std::uint64_t> losses_known_ = 0, losses_asked_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace qpscope
