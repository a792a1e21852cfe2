// SPDX-License-Identifier: Apache-2.0
#include "run_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace qpscope {

Result<Fd> open_run_folder(const Sysroot& root) {
  auto folder = root.open_file(kRunFolder, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  if (folder || folder.error().code != ErrorCode::not_found) return folder;
  const auto run = root.open_file("/run", O_PATH | O_DIRECTORY);
  if (!run) return std::unexpected(run.error());
  if (::mkdirat(run->get(), "qpscope", 0755) != 0 && errno != EEXIST) return std::unexpected(io_error(kRunFolder, errno));
  return root.open_file(kRunFolder, O_PATH | O_DIRECTORY | O_NOFOLLOW);
}

}  // namespace qpscope
