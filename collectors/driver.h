// SPDX-License-Identifier: Apache-2.0
// Which kernel driver a device belongs to, and which netdev a port. Never from the device's name: udev and people rename devices.
#pragma once

#include <functional>
#include <string>

#include "collectors/host/host.h"
#include "core/error.h"

namespace qpscope {

// The kernel module's name ("mlx5_core", "rdma_rxe"); "" where nothing tells. An error where what tells cannot be read now.
Result<std::string> driver_of(const Host& host, const std::string& device);

// The netdev behind the port's first GID that has one, by the kernel's GID table, which asks no hardware; "" where there is none.
// `failed` hears of what could not be read.
std::string netdev_of(const Host& host, const std::string& device, const std::string& port, const std::function<void(const Error&)>& failed);

}  // namespace qpscope
