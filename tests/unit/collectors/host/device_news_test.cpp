// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/device_news.h"

#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>

#include <array>
#include <catch2/catch.hpp>

using namespace qpscope;
using namespace qpscope::device_news;
using namespace std::literals;

namespace {

constexpr std::uint16_t kEventType = 102;  // RDMA_NLDEV_ATTR_EVENT_TYPE

struct Message {
  alignas(nlmsghdr) std::array<std::byte, 512> bytes{};
  nlmsghdr* header = mnl_nlmsg_put_header(bytes.data());
  std::span<const std::byte> attributes() const { return {static_cast<const std::byte*>(mnl_nlmsg_get_payload(header)), mnl_nlmsg_get_payload_len(header)}; }
};

}  // namespace

TEST_CASE("a notification names its event and device", "[host.device_news]") {
  constexpr std::pair<unsigned, std::string_view> kEvents[] = {{0, "register"}, {1, "unregister"}, {2, "netdev_attach"}, {3, "netdev_detach"},
                                                               {4, "rename"},   {5, "netdev_rename"}, {6, "other"}, {255, "other"}};
  for (const auto& [number, word] : kEvents) {
    Message m;
    mnl_attr_put_u32(m.header, RDMA_NLDEV_ATTR_DEV_INDEX, 3);
    mnl_attr_put_strz(m.header, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
    mnl_attr_put_u8(m.header, kEventType, static_cast<std::uint8_t>(number));
    const auto news = parse_monitor(m.attributes());
    REQUIRE(news);
    CHECK(news->event == word);
    CHECK(news->device == "mlx5_0");
  }
}

TEST_CASE("a notification without an event, or with one that is cut off, says nothing", "[host.device_news]") {
  Message none, wide, cut;
  mnl_attr_put_strz(none.header, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
  mnl_attr_put_u32(wide.header, kEventType, 1);
  mnl_attr_put_u8(cut.header, kEventType, 1);
  CHECK(parse_monitor(none.attributes()).error().code == ErrorCode::parse);
  CHECK(parse_monitor(wide.attributes()).error().code == ErrorCode::parse);
  CHECK(parse_monitor(cut.attributes().first(4)).error().code == ErrorCode::parse);
}

TEST_CASE("an uevent counts where it is about an RDMA device", "[host.device_news]") {
  const auto added = parse_uevent("add@/devices/x/infiniband/mlx5_0\0ACTION=add\0DEVPATH=/devices/x/infiniband/mlx5_0\0SUBSYSTEM=infiniband\0SEQNUM=7\0"sv);
  REQUIRE(added);
  CHECK(added->event == "register");
  CHECK(added->device == "mlx5_0");
  CHECK(parse_uevent("ACTION=remove\0SUBSYSTEM=infiniband\0DEVPATH=a/rxe0"sv)->event == "unregister");
  CHECK(parse_uevent("ACTION=move\0SUBSYSTEM=infiniband\0"sv)->event == "rename");
  CHECK(parse_uevent("ACTION=bind\0SUBSYSTEM=infiniband\0"sv)->event == "other");
  CHECK(parse_uevent("SUBSYSTEM=infiniband"sv)->device.empty());
  for (const std::string_view other : {"ACTION=add\0SUBSYSTEM=infiniband_verbs\0"sv, "ACTION=add\0XSUBSYSTEM=infiniband\0"sv, "libudev\0\xfe\xed"sv, ""sv, "\0\0"sv}) {
    CHECK_FALSE(parse_uevent(other));
  }
}

TEST_CASE("this machine's uevents can be listened to, and nothing waits", "[host.device_news]") {
  auto listener = DeviceListener::open(DeviceListener::How::uevent);
  REQUIRE(listener);
  CHECK(listener->descriptor() >= 0);
  CHECK(listener->take());
}
