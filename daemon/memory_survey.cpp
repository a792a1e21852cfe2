// SPDX-License-Identifier: Apache-2.0
#include "memory_survey.h"

#include <iterator>

#include "core/log.h"
#include "core/text.h"

namespace qpscope {

MemorySurvey::MemorySurvey(MemoryTable& table, std::mutex& table_mutex, double interval_seconds, Hooks hooks)
    : table_(table), table_mutex_(table_mutex), interval_(interval_seconds), hooks_(std::move(hooks)) {}

// Twice where regions that were known are missing: what went is missing again, what the kernel only passed over is hardly so twice.
Result<std::vector<MemoryRegion>> MemorySurvey::ask(DeviceIndex device) {
  auto first = hooks_.regions(device);
  if (!first) return first;
  {
    const std::lock_guard lock(table_mutex_);
    if (!table_.misses(device, *first)) return first;
  }
  auto second = hooks_.regions(device);
  if (!second) return second;
  // What the second told holds where both tell of a region: it comes first, and the table takes the first of two.
  std::ranges::move(*first, std::back_inserter(*second));
  return second;
}

void MemorySurvey::look(const std::map<DeviceIndex, std::string>& devices) {
  const BootTime now = hooks_.now();
  if (devices == devices_ && listed_.value != 0 && seconds(now, listed_) < interval_) return;
  listed_ = now;
  devices_ = devices;
  std::erase_if(troubles_, [&](const auto& entry) { return !devices.contains(entry.first); });
  {
    const std::lock_guard lock(table_mutex_);
    for (const DeviceIndex known : table_.devices()) {
      if (!devices.contains(known)) table_.drop_device(known);
    }
  }
  for (const auto& [device, name] : devices) {
    const auto regions = ask(device);
    const std::string trouble = regions ? std::string() : regions.error().what;
    if (std::string& told = troubles_[device]; told != trouble) {
      told = trouble;
      if (!trouble.empty()) log::warning(safe_text(name) + ": memory regions are not known: " + trouble);
    }
    const std::lock_guard lock(table_mutex_);
    if (regions) {
      table_.replace(device, *regions, now);
    } else {
      table_.drop_device(device);
    }
  }
  hooks_.news();
}

}  // namespace qpscope
