// SPDX-License-Identifier: Apache-2.0
// Says at once that RDMA devices, or the netdevs behind their ports, come, go or change: a reason to look. What is there, only looking
// tells: news can be lost, and old when they are read.
//
// Kernels from 6.12 say it by RDMA netlink (core/nldev.c rdma_nl_notify_event); before, only of devices, by uevents of the class
// infiniband (core/device.c).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

struct mnl_socket;

namespace qpscope {

struct DeviceNews {
  std::string_view event;  // "register", "unregister", "rename", "netdev_attach", "netdev_detach", "netdev_rename"; "other": of a later kernel;
                           // "lost": the kernel had more to say than the socket holds
  std::string device;      // as the kernel spells it; empty where it says no name
};

namespace device_news {
// What follows the nlmsghdr of a MONITOR message.
Result<DeviceNews> parse_monitor(std::span<const std::byte> attributes);
// One datagram of NETLINK_KOBJECT_UEVENT. nullopt: not about an RDMA device.
std::optional<DeviceNews> parse_uevent(std::string_view datagram);
}  // namespace device_news

// One socket; one thread. Needs no privilege.
class DeviceListener {
 public:
  enum class How { rdma_netlink, uevent };
  // rdma_netlink: ErrorCode::unsupported where ib_core is not loaded or older.
  static Result<DeviceListener> open(How how);
  DeviceListener(DeviceListener&&) noexcept;
  DeviceListener& operator=(DeviceListener&&) noexcept;
  ~DeviceListener();

  How how() const { return how_; }
  int descriptor() const;  // readable: there is news
  // What waits, at most kMost; does not block. An error: this socket says nothing any more.
  static constexpr std::size_t kMost = 64;
  Result<std::vector<DeviceNews>> take();

 private:
  struct CloseSocket {
    void operator()(mnl_socket* socket) const;
  };
  DeviceListener(How how, std::unique_ptr<mnl_socket, CloseSocket> socket);

  How how_;
  std::unique_ptr<mnl_socket, CloseSocket> socket_;
};

}  // namespace qpscope
