// SPDX-License-Identifier: Apache-2.0
// Which kernel driver a device belongs to, and which netdev a port. Never from the device's name: udev and people rename devices.
#pragma once

#include <string>

#include "collectors/host/host.h"

namespace qpscope {

// The kernel module's name ("mlx5_core", "rdma_rxe"); "" where it cannot be told.
std::string driver_of(const Host& host, const std::string& device);

// The netdev behind the port's first GID that has one, by the kernel's GID table, which asks no hardware; "" where there is none.
std::string netdev_of(const Host& host, const std::string& device, const std::string& port);

}  // namespace qpscope
