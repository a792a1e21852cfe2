// SPDX-License-Identifier: Apache-2.0
// What the kernel side counted of firmware commands as samples by RDMA device, and those that failed or took too long as events. A function
// without an RDMA device of its own (the second port of a bond) is left out. Main thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "collectors/host/sysroot.h"
#include "core/event_history.h"
#include "core/firmware_commands.h"
#include "core/metric.h"

namespace qpscope {

class FirmwareWatch {
 public:
  FirmwareWatch(const Sysroot& root, EventHistory& history) : root_(root), history_(history) {}

  // `devices`: names of the RDMA devices there are. Counters count from the daemon's start.
  SampleList look(const FirmwareCommands& commands, const std::vector<std::string>& devices, BootTime now);

  // Commands of others, by RDMA device, as of the last look().
  const std::map<std::string, std::uint64_t>& others() const { return others_; }

 private:
  struct Told {
    std::uint64_t slow = 0;
    std::map<std::uint32_t, std::uint64_t> failures;
  };
  void tell(const std::string& device, const FirmwareCommands::Device& counted, Told& told, BootTime now);

  const Sysroot& root_;
  EventHistory& history_;
  std::vector<std::string> known_;                // the devices that functions_ is of
  std::map<std::string, std::string> functions_;  // name of the function to RDMA device
  std::map<std::string, std::uint64_t> others_;
  std::map<std::string, Told> told_;              // by function
};

MetricList firmware_metrics();

}  // namespace qpscope
