// SPDX-License-Identifier: Apache-2.0
// Which RDMA devices send through the same physical port of a card, read from sysfs, which asks no firmware. A PCI physical function is
// a physical port (an mlx5 card with two ports has two), and its virtual functions and scalable functions send through it too.
//
//   - mlx5: all ports of all these devices count (beside its own a physical function has those of representors in switchdev mode); in a bond
//     one device serves both physical functions, so that one without a device belongs to its neighbours on the card.
//   - other drivers: the port of the same number of each (a function of mlx4 has both ports of the card).
//   - software devices, and what hangs on no PCI function, have their port for themselves.
//
// A function that has no RDMA device among `devices` is somebody else's: in a virtual machine, in another network namespace, left
// out by the configuration, or without RDMA and yet sending. So is, for a virtual function in a guest, everything it shares its port with.
// Not seen: what runs on a BlueField's own processors.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectors/host/host.h"
#include "core/ids.h"

namespace qpscope {

struct PhysicalPort {
  std::vector<std::pair<std::string, PortNum>> ports;  // by device, itself included
  std::string stranger;  // a PCI function of this port that is somebody else's, or why there must be one; empty: none
  friend bool operator==(const PhysicalPort&, const PhysicalPort&) = default;
};

struct DeviceDriver {
  std::string device;
  std::string driver;  // driver_of()
};

// For each port of each device. Those that go together share one, as there may be hundreds.
using PhysicalPorts = std::map<std::pair<std::string, PortNum>, std::shared_ptr<const PhysicalPort>>;
PhysicalPorts physical_ports(const Sysroot& root, const std::vector<DeviceDriver>& devices);

// A virtual function by its PCI ids alone: in a virtual machine its physical function is out of sight.
bool is_virtual_function(std::string_view vendor, std::string_view device);

}  // namespace qpscope
