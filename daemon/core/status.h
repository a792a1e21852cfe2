// SPDX-License-Identifier: Apache-2.0
// How the daemon itself is at one moment: what works, what it costs, what keeps it from seeing everything. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.h"
#include "core/ids.h"

namespace qpscope {

enum class Severity : std::uint8_t { info, warning, error };
constexpr std::string_view to_string(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "info";
}

struct Trouble {
  Severity severity = Severity::warning;
  std::string device;  // empty: not of one device
  std::string what;    // one line; may hold untrusted bytes
};

// A BPF program group; run time and count are there only while the kernel keeps them (sysctl kernel.bpf_stats_enabled).
struct ProbeView {
  std::string probe, feature, how, reason;
  bool attached = false;
  bool waiting = false;  // only for its module to be loaded: no fault
  std::optional<std::uint64_t> runs, missed;
  std::optional<double> run_seconds;
};

// Totals are since the daemon's start; what is not known is empty.
struct Status {
  static constexpr std::size_t kMostTroubles = 100;

  std::string version, host, kernel;
  BootTime started;
  std::size_t devices_found = 0;
  std::optional<std::size_t> devices_expected;
  bool bpf = false;        // queue pair events arrive
  std::string bpf_reason;  // why not
  std::optional<double> probes_back_seconds;  // they are off by request, and come back by themselves
  std::vector<ProbeView> probes;
  std::map<std::string, std::uint64_t> events;  // received from BPF, by kind
  EventLosses losses;
  std::optional<double> cpu_seconds, bpf_seconds;
  std::optional<std::uint64_t> resident_bytes, firmware_commands;
  std::vector<Trouble> troubles;  // the worst first; kMostTroubles at most
};

}  // namespace qpscope
