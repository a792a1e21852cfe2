// SPDX-License-Identifier: Apache-2.0
// The netdev of each port of a device.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "collectors/host/device_netlink.h"
#include "collectors/host/host.h"

namespace qpscope {

struct PortNetdevs {
  std::map<std::string, std::string> names;  // by port; none: not known
  unsigned asked = 0;                        // netlink, a query of the port each
};

// By GIDs. In switchdev mode (mlx5) a representor's port has none: netlink tells then. Without netlink the function's representors are
// its ports in the order of their VFs, as vports get their numbers (mlx5/core/eswitch.c mlx5_esw_vports_init), if there are as many of
// one as of the other, and nothing but VFs among them. `failed` hears of what could not be read.
PortNetdevs port_netdevs(const Host& host, const std::string& device, std::string_view driver, DeviceNetlink* netlink,
                         const std::function<void(const Error&)>& failed);

}  // namespace qpscope
