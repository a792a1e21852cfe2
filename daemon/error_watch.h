// SPDX-License-Identifier: Apache-2.0
// Completion errors that grow make queue pairs suspect (core/suspicion.h). Looks at the canonical samples, whoever made them, so that every
// driver with a row in the vocabulary is covered. Where it is known whose they are, that tenant's queue pairs are suspect, else all of the
// port. Pure; not thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/metric.h"
#include "core/suspicion.h"

namespace qpscope {

class ErrorWatch {
 public:
  static constexpr std::size_t kMost = 16384;  // series compared; at more all are forgotten, and what grew meanwhile goes unnoticed once

  using TenantOf = std::function<std::optional<TenantId>(const std::string& tenant, const std::string& workload)>;

  explicit ErrorWatch(TenantOf tenant_of = {}) : tenant_of_(std::move(tenant_of)) {}

  // A total above the one seen before is a suspicion. The first sight of a series is none, as the seed has asked for every queue pair, but
  // that of a tenant who came since is.
  void look(std::span<const SharedSamples> lists, BootTime now, Suspicions& out);

 private:
  using Key = std::pair<const MetricDef*, Labels>;
  // Whether it is above the one seen before.
  bool grew(const Sample& one, bool new_counts);

  const TenantOf tenant_of_;
  std::map<Key, double> totals_;  // by labels; of a device that is away too
  bool looked_ = false;
};

}  // namespace qpscope
