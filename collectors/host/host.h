// SPDX-License-Identifier: Apache-2.0
// What a collector gets to see of the host. Made once by the daemon, outlives every collector.
#pragma once

#include "collectors/host/sysroot.h"

namespace qpscope {

struct Host {
  const Sysroot& root;
  bool live = false;  // root is this machine's "/": netlink, ioctls and BPF speak of the same host as the files do
};

}  // namespace qpscope
