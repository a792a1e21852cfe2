// SPDX-License-Identifier: Apache-2.0
// `qpscope qps`: the queue pairs of this host.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "client.h"

namespace qpscope::cli {

struct QpsOptions {
  std::vector<std::pair<std::string, std::string>> filters;  // parameters of /api/v1/qps
  std::size_t limit = 0;                                     // queue pairs at most; 0: all
  bool json = false;
};

// What to print. All pages are put together: each is of its own moment, and "time" is the first one's.
Outcome<std::string> queue_pairs(Client& client, const QpsOptions& options);

}  // namespace qpscope::cli
