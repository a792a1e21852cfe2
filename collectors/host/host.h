// SPDX-License-Identifier: Apache-2.0
// What a collector gets to see of the host. Made once by the daemon, outlives every collector.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "collectors/host/dcb.h"
#include "collectors/host/device_netlink.h"
#include "collectors/host/ethtool.h"
#include "collectors/host/sysroot.h"
#include "core/ownership.h"
#include "core/qp_directory.h"

namespace qpscope {

struct Host {
  const Sysroot& root;
  bool live = false;  // root is this machine's "/": netlink, ioctls and BPF speak of the same host as the files do
  // A device's own line to RDMA netlink, for the thread that calls; empty where the root is not live.
  std::function<std::unique_ptr<DeviceNetlink>(const std::string& device)> netlink = {};
  // Lines of their own to what netdevs' drivers tell, for the thread that calls; empty where nothing can be asked.
  std::function<std::unique_ptr<Ethtool>()> ethtool = {};
  std::function<std::unique_ptr<Dcb>()> dcb = {};
  // Whose queue pairs are; null where nobody knows of any.
  QpDirectory* queue_pairs = nullptr;
  // Whether a port was one tenant's own; null where nobody can tell.
  Ownership* ownership = nullptr;
};

}  // namespace qpscope
