// SPDX-License-Identifier: Apache-2.0
// The only door to the kernel side: loads and attaches the BPF programs, turns what they send into core Events.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/event.h"
#include "core/firmware_commands.h"

namespace qpscope {

struct ProbeOptions {
  std::string sys_root = "/sys";      // where module taint and build ids are read
  std::size_t ring_bytes = 8U << 20;  // a power of two and a multiple of the page size
  std::vector<std::string> layout_folders = {};  // where entries for a vendor's modules are looked for, the first that has one (bpf/layouts/README.md)
  bool trampolines = true;            // false: kprobes even where fentry and fexit could be had without loss
};

// What the kernel counts of BPF programs (bpf_prog_info). Runs only while somebody wants it to: sysctl kernel.bpf_stats_enabled.
struct ProbeRuns {
  std::uint64_t runs = 0, nanoseconds = 0;
  std::uint64_t missed = 0;  // recursion_misses
};

// One line of --check and one sample of qpscope_probe_attached.
struct ProbeStatus {
  std::string probe;   // "qp_create"
  std::string feature = {};  // "qp": what the probe is part of
  std::string how;     // "fexit", "fentry", "kprobe", "raw_tp", "off"
  std::string target;  // kernel symbol or tracepoint
  bool attached = false;
  bool waiting = false;  // not attached only because the module is not loaded: no fault
  std::string reason;    // why not attached; one line
  std::vector<std::string> programs = {};  // names of those that are attached
  ProbeRuns runs = {};                     // theirs, where EventLoop has asked
};

// Thread-safety: poll() and drain() may be called from different threads; everything else from the owner's.
class ProbeSet {
 public:
  using Sink = std::function<void(Event&&)>;  // called under the ring's mutex, in event order

  // Never fails for what a kernel lacks: probes that cannot be loaded are off and say why. An error means that BPF as a
  // whole is not to be had (no privilege, no bpf system call); status() of the set does not exist then.
  static Result<std::unique_ptr<ProbeSet>> open(const ProbeOptions& options, Sink sink);
  ~ProbeSet();

  const std::vector<ProbeStatus>& status() const;

  // A module that probes attach to came or went: open another set. Reads /sys.
  bool outdated() const;

  // Waits up to `timeout` for events and delivers them. Returns how many.
  Result<std::size_t> poll(std::chrono::milliseconds timeout);
  // Delivers everything the kernel had submitted before the call: afterwards the caller's view is not older than the call.
  void drain();

  // `runs`: takes what else the kernel tells in the same breath, by program.
  EventLosses losses(std::map<std::string, ProbeRuns, std::less<>>* runs = nullptr) const;
  // What is counted whether it is told or not.
  std::vector<EventCount> counts() const;
  // Firmware commands since the probes were loaded.
  FirmwareCommands commands() const;
  // Wakes a poll() in another thread; used once, at the end.
  void stop();

 private:
  class Impl;
  explicit ProbeSet(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace qpscope
