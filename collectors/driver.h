// SPDX-License-Identifier: Apache-2.0
// Which kernel driver a device belongs to, and where it sits. Never from the device's name: udev and people rename devices.
#pragma once

#include <string>

#include "collectors/host/host.h"

namespace qpscope {

// The kernel module's name ("mlx5_core", "rdma_rxe"); "" where it cannot be told.
std::string driver_of(const Host& host, const std::string& device);

}  // namespace qpscope
