// SPDX-License-Identifier: Apache-2.0
// Completion errors that grow make queue pairs suspect (core/suspicion.h). Looks at the canonical samples, whoever made them, so that every
// driver with a row in the vocabulary is covered. Pure; not thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/metric.h"
#include "core/suspicion.h"

namespace qpscope {

class ErrorWatch {
 public:
  static constexpr std::size_t kMost = 16384;  // series compared; at more all are forgotten, and what grew meanwhile goes unnoticed once

  // A total above the one seen before is a suspicion. The first sight of a series is none: the seed has asked for every queue pair.
  void look(std::span<const SharedSamples> lists, BootTime now, Suspicions& out);

 private:
  std::map<std::vector<std::string>, double> totals_;  // by labels; of a device that is away too
};

}  // namespace qpscope
