// SPDX-License-Identifier: Apache-2.0
// Cards that should give an RDMA device and do not: their driver failed, or was never there. What can be known from the PCI bus
// alone, read from sysfs, which asks no firmware (drivers/pci/pci-sysfs.c).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "collectors/host/host.h"

namespace qpscope {

// How many PCI functions have no RDMA device although they are
// - InfiniBand controllers (class 0x0207), or
// - Ethernet functions of the same vendor and device id as one that has one, with the same driver or none, or
// - ConnectX-4 or later, or BlueField, without any driver;
// but not those that are given away (vfio and its like, virtual functions without a driver), nor those whose netdev belongs to a bond:
// two ports of mlx5 have one RDMA device then. An Ethernet card whose kind has no RDMA device here is none that is missing one: nobody
// can tell whether RDMA is wanted. nullopt: there is no PCI bus.
// `devices`: the RDMA devices whose folders may be touched; for others their PCI function alone has to tell.
std::optional<std::size_t> missing_devices(const Host& host, const std::vector<std::string>& devices);

}  // namespace qpscope
