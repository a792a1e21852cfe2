// SPDX-License-Identifier: Apache-2.0
// Lists the memory regions of every device by netlink now and then, which asks no firmware, and keeps the MemoryTable equal to it. However
// fast regions come and go, this costs the same, and nobody who registers memory waits for it.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/memory_table.h"

namespace qpscope {

// One thread; the table is shared, under its mutex.
class MemorySurvey {
 public:
  struct Hooks {
    ClockFn now;
    std::function<Result<std::vector<MemoryRegion>>(DeviceIndex)> regions;
    std::function<void()> news;  // owners may wait for their tenants
  };
  MemorySurvey(MemoryTable& table, std::mutex& table_mutex, double interval_seconds, Hooks hooks);

  // Call it often; it lists once in an interval, and at once what is new. A device that cannot be listed has no regions that are known.
  void look(const std::map<DeviceIndex, std::string>& devices);

 private:
  Result<std::vector<MemoryRegion>> ask(DeviceIndex device);

  MemoryTable& table_;
  std::mutex& table_mutex_;
  const double interval_;
  const Hooks hooks_;
  BootTime listed_;
  std::map<DeviceIndex, std::string> devices_;   // as listed last
  std::map<DeviceIndex, std::string> troubles_;  // told once
};

}  // namespace qpscope
