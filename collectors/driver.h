// SPDX-License-Identifier: Apache-2.0
// Which kernel driver a device belongs to, what that makes of reads, and which netdev a port has. Never from the device's name: udev
// and people rename devices.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "collectors/host/host.h"
#include "core/error.h"

namespace qpscope {

// The kernel module's name ("mlx5_core", "rdma_rxe"); "" where nothing tells. An error where what tells cannot be read now.
Result<std::string> driver_of(const Host& host, const std::string& device);

// The netdev behind the port's first GID that has one, by the kernel's GID table, which asks no hardware; "" where there is none.
// `failed` hears of what could not be read.
std::string netdev_of(const Host& host, const std::string& device, const std::string& port, const std::function<void(const Error&)>& failed);

// False for drivers in software. A driver that is not known may have one.
bool has_firmware(std::string_view driver);

// Whether a port's rate is not its line's. efa always shows 100 Gb/s (hw/efa/efa_verbs.c efa_query_port); an Ethernet port shows 2.5 Gb/s
// where its netdev has 1 Gb/s or less, or does not tell its speed (core/verbs.c ib_get_eth_speed): soft-RoCE over a dummy, a virtual machine.
bool is_made_up(std::string_view driver, std::string_view link_layer, double gigabits);

// What reads of a device ask of its firmware, in commands.
struct FirmwareCost {
  unsigned port_query = 0;     // state, phys_state, rate, lid: one query of the port each (core/sysfs.c)
  unsigned counters_file = 0;  // each file of ports/N/counters
  unsigned hw_counters = 0;    // a pass over the hw_counters of a port
  unsigned ethtool = 0;        // a pass over the ethtool statistics of a netdev, its names before and after included
  unsigned pfc = 0;            // DCB's PFC of a netdev
};
// mlx5: a pass is QUERY_Q_COUNTER, ACCESS_REG (PPCNT) and QUERY_CONG_STATISTICS (hw/mlx5/counters.c). One over ethtool statistics is 33
// (PPCNT, MPCNT, Q and vport counters), and each count or list of names asks for PFC and pause again, 10 in all (en_stats.c
// mlx5e_grp_per_prio_pfc_get_num_stats). Software drivers have no firmware. Of any other driver one command each is assumed.
FirmwareCost firmware_cost(std::string_view driver);

}  // namespace qpscope
