// SPDX-License-Identifier: Apache-2.0
#include "own_files.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace qpscope {

bool keep_only(std::initializer_list<int> kept) {
  if (unshare(CLONE_FILES) != 0) return false;
  std::vector<int> sorted(kept);
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

bool drop(std::span<const int> dropped) {
  if (unshare(CLONE_FILES) != 0) return false;
  for (const int fd : dropped) close(fd);
  return true;
}

}  // namespace qpscope
