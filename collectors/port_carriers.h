// SPDX-License-Identifier: Apache-2.0
// Which netdevs carry an RDMA port, down to the ones with a driver of their own. Asks no firmware and, but for describe_netdev(), takes no lock
// of netdevs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/host/host.h"

namespace qpscope {

struct PortCarriers {
  std::string top;                  // what the port names: a bond, a VLAN, or the netdev itself; "" where there is none
  std::vector<std::string> lowest;  // what `top` sends through and this device owns; `top` itself where nothing is below it
};

// `told`: the netdev that RDMA netlink names for the port (PORT_GET), which knows best. Else the GID table (gid_attrs/ndevs), then rxe's
// attribute `parent`, then the one netdev of the device's PCI function with the port's number in dev_port (mlx5 counts from 0 there).
// Where netlink names a member of the bond that the GID table names, as mlx5 does with RoCE LAG, it is the bond.
//
// Left out is a netdev of another RDMA device: of a bond that is no RoCE LAG each device has its own members, and soft-RoCE over a NIC
// that has RDMA leaves the NIC's statistics to the NIC. So is one that bears the name of our netdev while that lives in another network namespace.
//
// What cannot be read is passed over: port_info reads the same files and counts it.
PortCarriers carriers_of_port(const Host& host, const std::string& device, const std::string& port, const std::optional<std::string>& told);

// What a netdev is, in devlink's words (include/uapi/linux/devlink.h devlink_port_flavour): "physical" a physical port of a PCI function,
// "pcipf", "pcivf", "pcisf" the representor of a function, "virtual" the function's own end of it. "" of anything else.
//
// By phys_port_name ("p0", "pf0vf3", "c1pf0": net/devlink/port.c __devlink_port_phys_port_name_get), which the kernel reads under rtnl and which spins while
// another holds it (net/core/net-sysfs.c phys_port_name_show): ask through the gate (rtnl_gate.h), and once.
std::string netdev_flavour(const Host& host, const std::string& device, const std::string& netdev);

// The physical port is this netdev's to tell of. That of a virtual function lists its statistics with zeros.
bool tells_of_physical_port(std::string_view flavour);
bool is_representor(std::string_view flavour);

}  // namespace qpscope
