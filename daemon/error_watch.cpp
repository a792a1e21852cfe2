// SPDX-License-Identifier: Apache-2.0
#include "error_watch.h"

#include <set>

#include "collectors/counter_folder.h"
#include "collectors/tenant_counters.h"
#include "collectors/vocabulary/families.h"

namespace qpscope {

bool ErrorWatch::grew(const Sample& one, bool new_counts) {
  const auto* total = std::get_if<double>(&one.value);
  if (!total) return false;
  Key key{one.def, one.labels};
  const auto known = totals_.find(key);
  if (known != totals_.end()) return *total > std::exchange(known->second, *total);
  if (totals_.size() >= kMost) totals_.clear();
  totals_.emplace(std::move(key), *total);
  return new_counts && *total > 0;
}

void ErrorWatch::look(std::span<const SharedSamples> lists, BootTime now, Suspicions& out) {
  const MetricDef* const port = &kCompletionErrors;
  const MetricDef* const tenant = &tenant_twin(*port);
  const MetricDef* const rest = &unattributed_twin(*port);
  std::set<std::pair<std::string_view, std::string_view>> divided;  // ports of which it is known what is whose
  for (const SharedSamples& list : lists) {
    for (const Sample& one : *list) {
      if (one.def == rest) divided.emplace(one.labels[0], one.labels[1]);
    }
  }
  const bool looked = std::exchange(looked_, true);
  for (const SharedSamples& list : lists) {
    for (const Sample& one : *list) {
      if (one.def == tenant && grew(one, looked)) {
        const auto id = tenant_of_ ? tenant_of_(std::string(one.labels[0]), std::string(one.labels[1])) : std::nullopt;
        out.add(std::string(one.labels[2]), {.port = port_number(std::string(one.labels[3])), .tenant = id}, now);
      } else if (one.def == rest && grew(one, false)) {
        out.add(std::string(one.labels[0]), {.port = port_number(std::string(one.labels[1])), .tenant = std::nullopt}, now);
      } else if (one.def == port && grew(one, false) && !divided.contains({one.labels[0], one.labels[1]})) {
        out.add(std::string(one.labels[0]), {.port = port_number(std::string(one.labels[1])), .tenant = std::nullopt}, now);
      }
    }
  }
}

}  // namespace qpscope
