// SPDX-License-Identifier: Apache-2.0
// /run/qpscope: where the daemon keeps its state file and its socket.
#pragma once

#include "collectors/host/sysroot.h"

namespace qpscope {

inline constexpr const char* kRunFolder = "/run/qpscope";

// Makes it where it is missing (mode 0755). The descriptor is O_PATH, and of a folder that is no symbolic link.
Result<Fd> open_run_folder(const Sysroot& root);

}  // namespace qpscope
