// SPDX-License-Identifier: Apache-2.0
// The firmware budgets of all devices, by name. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "collectors/host/host.h"
#include "core/command_budget.h"

namespace qpscope {

class Budgets {
 public:
  Budgets(const Host& host, double per_second) : host_(host), per_second_(per_second) {}

  // The device's; made when first asked for, which reads the name of its driver and so belongs on a thread that may wait.
  std::shared_ptr<CommandBudget> of(const std::string& device);
  std::vector<std::pair<std::string, std::shared_ptr<CommandBudget>>> all() const;

 private:
  const Host& host_;
  const double per_second_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<CommandBudget>> budgets_;
};

}  // namespace qpscope
