// SPDX-License-Identifier: Apache-2.0
// Which kernel driver a device belongs to, and where it sits. Never from the device's name: udev and people rename devices.
#pragma once

#include <string>

#include "collectors/host/host.h"
#include "core/error.h"

namespace qpscope {

// The kernel module's name ("mlx5_core", "rdma_rxe"); "" where nothing tells. An error where what tells cannot be read now.
Result<std::string> driver_of(const Host& host, const std::string& device);

}  // namespace qpscope
