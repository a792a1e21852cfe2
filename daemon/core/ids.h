// SPDX-License-Identifier: Apache-2.0
// Strong types for the numbers that are easily mixed up. No invariants: plain values.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace qpscope {

template <class Tag, class Rep>
struct Id {
  Rep value{};
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using DeviceIndex = Id<struct DeviceIndexTag, std::uint32_t>;  // RDMA_NLDEV_ATTR_DEV_INDEX, ib_device.index; lives as long as the device
using PortNum = Id<struct PortNumTag, std::uint32_t>;          // from 1; 0: the QP has no port yet (before INIT)
using Qpn = Id<struct QpnTag, std::uint32_t>;                  // 24 bits; reused at once, equal on several devices: no identity by itself
using QpSerial = Id<struct QpSerialTag, std::uint64_t>;        // names one QP for good; see qp_table.h
using Pid = Id<struct PidTag, std::uint32_t>;                  // a thread id or a thread group id in the initial pid namespace
using CounterSetId = Id<struct CounterSetIdTag, std::uint32_t>;  // RDMA_NLDEV_ATTR_STAT_COUNTER_ID, rdma_counter.id: of a device; reused
using CgroupId = Id<struct CgroupIdTag, std::uint64_t>;        // kernfs id = inode number of the cgroup's folder; 0: unknown

// A 128-bit GID in network order, as the kernel holds it.
struct Gid {
  std::array<std::uint8_t, 16> bytes{};
  friend constexpr auto operator<=>(const Gid&, const Gid&) = default;
};

// Nanoseconds of CLOCK_BOOTTIME: every stamp inside qpscope. Wall clock only where something is printed.
using BootTime = Id<struct BootTimeTag, std::uint64_t>;

constexpr BootTime after(BootTime time, double seconds) { return {time.value + static_cast<std::uint64_t>(seconds * 1e9)}; }
// The next of the points in time `interval` seconds apart, from `began` on, that is at least half an interval ahead.
constexpr BootTime next_on_grid(BootTime began, double interval, BootTime now) {
  const std::uint64_t step = interval > 1e-9 ? static_cast<std::uint64_t>(interval * 1e9) : 1;
  return {began.value + ((now.value - began.value + step / 2) / step + 1) * step};
}
constexpr double seconds(BootTime later, BootTime earlier) {
  return static_cast<double>(static_cast<std::int64_t>(later.value - earlier.value)) / 1e9;
}

}  // namespace qpscope

template <class Tag, class Rep>
struct std::hash<qpscope::Id<Tag, Rep>> {
  std::size_t operator()(const qpscope::Id<Tag, Rep>& id) const noexcept { return std::hash<Rep>{}(id.value); }
};
