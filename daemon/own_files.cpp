// SPDX-License-Identifier: Apache-2.0
#include "own_files.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace qpscope {

bool keep_only(std::span<const int> kept) {
  if (unshare(CLONE_FILES) != 0) return false;
  std::vector<int> sorted(kept.begin(), kept.end());
  std::ranges::sort(sorted);
  unsigned first = STDERR_FILENO + 1;
  for (const int fd : sorted) {
    const auto keep = static_cast<unsigned>(fd);
    if (keep > first) close_range(first, keep - 1, 0);
    first = std::max(first, keep + 1);
  }
  close_range(first, ~0U, 0);
  return true;
}

}  // namespace qpscope
