// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/device_news.h"

#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include "collectors/host/nldev.h"
#include "collectors/host/nldev_parse.h"

namespace qpscope {
namespace {

// include/uapi/rdma/rdma_netlink.h of 6.12, newer than the header we are built with.
constexpr unsigned kGroupNotify = 4;      // RDMA_NL_GROUP_NOTIFY
constexpr std::uint16_t kMonitor = 28;    // RDMA_NLDEV_CMD_MONITOR
constexpr unsigned kKernelUevents = 1;    // group of lib/kobject_uevent.c; 2 is udev's
constexpr std::size_t kDatagram = 16 * 1024;  // an uevent has 2 KiB at most, a message of ours less

constexpr std::string_view word_of(DeviceListener::How how) { return how == DeviceListener::How::rdma_netlink ? "RDMA netlink notifications" : "uevents"; }

// The values of a datagram's "KEY=VALUE" strings.
std::string_view value_of(std::string_view datagram, std::string_view key) {
  while (!datagram.empty()) {
    const auto end = datagram.find('\0');
    const std::string_view one = datagram.substr(0, end);
    if (one.size() > key.size() && one.starts_with(key) && one[key.size()] == '=') return one.substr(key.size() + 1);
    if (end == std::string_view::npos) break;
    datagram.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace

namespace device_news {

std::optional<DeviceNews> parse_uevent(std::string_view datagram) {
  if (value_of(datagram, "SUBSYSTEM") != "infiniband") return std::nullopt;
  constexpr std::pair<std::string_view, std::string_view> kEvents[] = {{"add", "register"}, {"remove", "unregister"}, {"move", "rename"}};
  const std::string_view action = value_of(datagram, "ACTION");
  const auto* found = std::ranges::find(kEvents, action, [](const auto& row) { return row.first; });
  const std::string_view path = value_of(datagram, "DEVPATH");
  return DeviceNews{found == std::end(kEvents) ? "other" : found->second, std::string(path.substr(path.rfind('/') + 1))};
}

}  // namespace device_news

void DeviceListener::CloseSocket::operator()(mnl_socket* socket) const { mnl_socket_close(socket); }

DeviceListener::DeviceListener(How how, std::unique_ptr<mnl_socket, CloseSocket> socket) : how_(how), socket_(std::move(socket)) {}
DeviceListener::DeviceListener(DeviceListener&&) noexcept = default;
DeviceListener& DeviceListener::operator=(DeviceListener&&) noexcept = default;
DeviceListener::~DeviceListener() = default;

int DeviceListener::descriptor() const { return mnl_socket_get_fd(socket_.get()); }

Result<DeviceListener> DeviceListener::open(How how) {
  if (how == How::rdma_netlink) {
    auto nldev = Nldev::open();
    if (!nldev) return std::unexpected(std::move(nldev.error()));
    const auto monitors = nldev->monitors_devices();
    if (!monitors) return std::unexpected(monitors.error());
    if (!*monitors) return fail(ErrorCode::unsupported, "this kernel's RDMA netlink does not notify");
  }
  std::unique_ptr<mnl_socket, CloseSocket> socket(
      mnl_socket_open2(how == How::rdma_netlink ? NETLINK_RDMA : NETLINK_KOBJECT_UEVENT, SOCK_CLOEXEC | SOCK_NONBLOCK));
  int group = kGroupNotify;
  const bool bound = socket && mnl_socket_bind(socket.get(), how == How::uevent ? kKernelUevents : 0, MNL_SOCKET_AUTOPID) == 0;
  if (!bound || (how == How::rdma_netlink && mnl_socket_setsockopt(socket.get(), NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0)) {
    return std::unexpected(io_error(std::string(word_of(how)), errno));
  }
  return DeviceListener(how, std::move(socket));
}

Result<std::vector<DeviceNews>> DeviceListener::take() {
  std::vector<DeviceNews> out;
  alignas(nlmsghdr) std::array<std::byte, kDatagram> buffer;
  // Datagrams and not news are bounded: uevents of the whole machine come here.
  for (std::size_t i = 0; i < kMost; ++i) {
    sockaddr_nl from{};
    iovec piece{.iov_base = buffer.data(), .iov_len = buffer.size()};
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    const ssize_t n = ::recvmsg(descriptor(), &message, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (n < 0 && errno == ENOBUFS) {
      out.push_back({"lost", {}});
      continue;
    }
    if (n <= 0) return std::unexpected(io_error(std::string(word_of(how_)), n == 0 ? EIO : errno));
    if (from.nl_pid != 0) continue;  // not the kernel
    const std::span<const std::byte> datagram(buffer.data(), static_cast<std::size_t>(n));
    if (how_ == How::uevent) {
      if (auto news = device_news::parse_uevent({reinterpret_cast<const char*>(datagram.data()), datagram.size()})) out.push_back(std::move(*news));
      continue;
    }
    const auto* header = reinterpret_cast<const nlmsghdr*>(datagram.data());
    if (!mnl_nlmsg_ok(header, static_cast<int>(n)) || header->nlmsg_type != RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, kMonitor)) continue;
    auto news = device_news::parse_monitor(datagram.subspan(sizeof *header, header->nlmsg_len - sizeof *header));
    out.push_back(news ? std::move(*news) : DeviceNews{"other", {}});
  }
  return out;
}

}  // namespace qpscope
