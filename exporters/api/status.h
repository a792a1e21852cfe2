// SPDX-License-Identifier: Apache-2.0
// GET /api/v1/status: is it well, and what does it not see. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "core/snapshot.h"

namespace qpscope {

// What the pages know beyond the snapshot.
struct PagesNow {
  bool ready = false;      // as /readyz says
  std::size_t series = 0;  // on /metrics; 0: nobody has asked for that page yet
};
std::string status_json(const Snapshot& snapshot, PagesNow pages);

}  // namespace qpscope
