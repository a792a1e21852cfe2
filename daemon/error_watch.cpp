// SPDX-License-Identifier: Apache-2.0
#include "error_watch.h"

#include <utility>

#include "collectors/counter_folder.h"
#include "collectors/vocabulary.h"

namespace qpscope {

void ErrorWatch::look(std::span<const SharedSamples> lists, BootTime now, Suspicions& out) {
  const MetricDef* const family = &completion_errors_family();
  for (const SharedSamples& list : lists) {
    for (const Sample& one : *list) {
      const auto* total = std::get_if<double>(&one.value);
      if (one.def != family || !total) continue;
      auto known = totals_.find(one.labels);
      if (known == totals_.end()) {
        if (totals_.size() >= kMost) totals_.clear();
        totals_.emplace(one.labels, *total);
      } else if (const double before = std::exchange(known->second, *total); *total > before) {
        out.add(one.labels[0], {.port = port_number(one.labels[1]), .tenant = std::nullopt}, now);
      }
    }
  }
}

}  // namespace qpscope
