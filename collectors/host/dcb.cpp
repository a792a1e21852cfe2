// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/dcb.h"

#include <libmnl/libmnl.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace qpscope {
namespace {

constexpr std::size_t kBuffer = 16 * 1024;  // an answer is one datagram of a page or two
constexpr timeval kTimeout{.tv_sec = 3, .tv_usec = 0};
static_assert(kPriorities == IEEE_8021QAZ_MAX_TCS);

// The payload of the attribute of this type; empty where there is none.
std::span<const std::byte> find(std::span<const std::byte> attributes, std::uint16_t type) {
  const auto* at = reinterpret_cast<const nlattr*>(attributes.data());
  auto left = static_cast<int>(attributes.size());
  for (; mnl_attr_ok(at, left); left -= MNL_ALIGN(at->nla_len), at = mnl_attr_next(at)) {
    if (mnl_attr_get_type(at) == type) return {static_cast<const std::byte*>(mnl_attr_get_payload(at)), mnl_attr_get_payload_len(at)};
  }
  return {};
}

class KernelDcb : public Dcb {
 public:
  Result<PfcState> pfc(const std::string& netdev) override {
    const std::string what = "DCB IEEE_GET of " + netdev;
    auto answer = ask(netdev, what);
    if (answer) return answer;
    Error& error = answer.error();
    // An answer may still be on its way.
    if (error.sys_errno == ETIMEDOUT || error.code == ErrorCode::parse) socket_.reset();
    if (error.sys_errno == EOPNOTSUPP) error.code = ErrorCode::unsupported;
    return answer;
  }

 private:
  struct CloseSocket {
    void operator()(mnl_socket* socket) const { mnl_socket_close(socket); }
  };

  Result<> connect() {
    if (socket_) return {};
    std::unique_ptr<mnl_socket, CloseSocket> socket(mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC));
    if (!socket || ::setsockopt(mnl_socket_get_fd(socket.get()), SOL_SOCKET, SO_RCVTIMEO, &kTimeout, sizeof kTimeout) != 0 ||
        mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) != 0) {
      return std::unexpected(io_error("rtnetlink socket", errno));
    }
    socket_ = std::move(socket);
    return {};
  }

  Result<PfcState> ask(const std::string& netdev, const std::string& what) {
    if (auto connected = connect(); !connected) return std::unexpected(std::move(connected.error()));
    alignas(nlmsghdr) std::array<std::byte, 256> request{};
    nlmsghdr* header = mnl_nlmsg_put_header(request.data());
    header->nlmsg_type = RTM_GETDCB;
    header->nlmsg_flags = NLM_F_REQUEST;
    header->nlmsg_seq = ++sequence_;
    auto* message = static_cast<dcbmsg*>(mnl_nlmsg_put_extra_header(header, sizeof(dcbmsg)));
    message->dcb_family = AF_UNSPEC;
    message->cmd = DCB_CMD_IEEE_GET;
    if (!mnl_attr_put_strz_check(header, request.size(), DCB_ATTR_IFNAME, netdev.c_str())) {
      return fail(ErrorCode::not_found, what + ": no name of a netdev", ENODEV);
    }
    if (mnl_socket_sendto(socket_.get(), header, header->nlmsg_len) < 0) return std::unexpected(io_error(what, errno));
    alignas(nlmsghdr) std::array<std::byte, kBuffer> buffer;
    ssize_t n = -1;
    do n = mnl_socket_recvfrom(socket_.get(), buffer.data(), buffer.size());
    while (n < 0 && errno == EINTR);
    if (n <= 0) return std::unexpected(io_error(what, n == 0 ? EIO : errno == EAGAIN ? ETIMEDOUT : errno));
    const auto* answer = reinterpret_cast<const nlmsghdr*>(buffer.data());
    if (!mnl_nlmsg_ok(answer, static_cast<int>(n)) || answer->nlmsg_seq != sequence_) return fail(ErrorCode::parse, what + ": not an answer");
    const std::span payload(static_cast<const std::byte*>(mnl_nlmsg_get_payload(answer)), mnl_nlmsg_get_payload_len(answer));
    if (answer->nlmsg_type == NLMSG_ERROR) {
      if (payload.size() < sizeof(nlmsgerr)) return fail(ErrorCode::parse, what + ": an error that is cut off");
      return std::unexpected(io_error(what, -reinterpret_cast<const nlmsgerr*>(payload.data())->error));
    }
    auto state = parse_dcb_pfc(payload);
    if (!state) state.error().what = what + ": " + state.error().what;
    return state;
  }

  std::unique_ptr<mnl_socket, CloseSocket> socket_;
  std::uint32_t sequence_ = 0;
};

}  // namespace

std::unique_ptr<Dcb> kernel_dcb() { return std::make_unique<KernelDcb>(); }

Result<PfcState> parse_dcb_pfc(std::span<const std::byte> payload) {
  if (payload.size() < sizeof(dcbmsg)) return fail(ErrorCode::parse, "no DCB message");
  const auto answer = find(find(payload.subspan(MNL_ALIGN(sizeof(dcbmsg))), DCB_ATTR_IEEE), DCB_ATTR_IEEE_PFC);
  if (answer.empty()) return fail(ErrorCode::unsupported, "no PFC", EOPNOTSUPP);
  ieee_pfc pfc{};
  if (answer.size() < sizeof pfc) return fail(ErrorCode::parse, "PFC is cut off");
  std::memcpy(&pfc, answer.data(), sizeof pfc);
  PfcState out{.enabled = pfc.pfc_en};
  std::ranges::copy(pfc.requests, out.sent.begin());
  std::ranges::copy(pfc.indications, out.received.begin());
  return out;
}

}  // namespace qpscope
