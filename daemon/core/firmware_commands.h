// SPDX-License-Identifier: Apache-2.0
// Commands of drivers to the firmware of their cards (mlx5), as the kernel side counts them. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace qpscope {

// Upper bounds of the buckets of their latency; bpf/commands.h has the same.
inline constexpr std::array<std::uint64_t, 16> kCommandBoundsNs{10'000,     30'000,     100'000,     200'000,     500'000,       1'000'000,     2'000'000,      5'000'000,
                                                                10'000'000, 30'000'000, 100'000'000, 300'000'000, 1'000'000'000, 3'000'000'000, 10'000'000'000, 30'000'000'000};

struct FirmwareCommands {
  struct Calls {
    std::array<std::uint64_t, kCommandBoundsNs.size() + 1> counts{};  // per bucket; the last lies above all bounds
    std::uint64_t sum_ns = 0;
    Calls& operator+=(const Calls& more);
    std::uint64_t count() const;
    std::uint64_t longer_than(std::uint64_t nanoseconds) const;  // one of the bounds
  };
  struct Device {
    Calls ours, others;  // by a thread of this process; by anybody else
    std::map<std::uint32_t, std::uint64_t> failures;  // by opcode
  };
  std::map<std::string, Device> devices;  // by name of the function: "0000:03:00.0", "mlx5_core.sf.2"
  std::uint64_t uncounted = 0;            // found no room

  FirmwareCommands& operator+=(const FirmwareCommands& more);
};

// As the driver's source names it, without MLX5_CMD_OP_; "0x123" where it is not known here.
std::string command_name(std::uint32_t opcode);

}  // namespace qpscope
