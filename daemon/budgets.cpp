// SPDX-License-Identifier: Apache-2.0
#include "budgets.h"

#include <algorithm>

#include "collectors/driver.h"

namespace qpscope {
namespace {

constexpr std::size_t kMost = 1024;  // names; devices that come and go can have ever new ones

}  // namespace

std::shared_ptr<CommandBudget> Budgets::of(const std::string& device) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = budgets_.find(device); found != budgets_.end()) return found->second;
  }
  const bool firmware = has_firmware(driver_of(host_, device).value_or(""));
  const std::lock_guard lock(mutex_);
  if (budgets_.size() >= kMost) std::erase_if(budgets_, [](const auto& entry) { return entry.second.use_count() == 1; });
  return budgets_.try_emplace(device, std::make_shared<CommandBudget>(per_second_, firmware)).first->second;
}

std::vector<std::pair<std::string, std::shared_ptr<CommandBudget>>> Budgets::all() const {
  const std::lock_guard lock(mutex_);
  return {budgets_.begin(), budgets_.end()};
}

}  // namespace qpscope
