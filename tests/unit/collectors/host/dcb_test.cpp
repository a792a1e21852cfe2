// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/dcb.h"

#include <libmnl/libmnl.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>

#include <catch2/catch.hpp>
#include <cerrno>

using namespace qpscope;

namespace {

// An answer as net/dcb/dcbnl.c dcbnl_ieee_fill writes it, PFC not first.
struct Answer {
  alignas(nlmsghdr) std::array<std::byte, 512> buffer{};
  nlmsghdr* header = mnl_nlmsg_put_header(buffer.data());

  explicit Answer(const ieee_pfc* pfc, std::size_t size = sizeof(ieee_pfc)) {
    mnl_nlmsg_put_extra_header(header, sizeof(dcbmsg));
    mnl_attr_put_strz(header, DCB_ATTR_IFNAME, "eth0");
    nlattr* nest = mnl_attr_nest_start(header, DCB_ATTR_IEEE);
    mnl_attr_put_u32(header, DCB_ATTR_IEEE_MAXRATE, 0);
    if (pfc) mnl_attr_put(header, DCB_ATTR_IEEE_PFC, size, pfc);
    mnl_attr_nest_end(header, nest);
  }
  std::span<const std::byte> payload() const {
    return {static_cast<const std::byte*>(mnl_nlmsg_get_payload(header)), mnl_nlmsg_get_payload_len(header)};
  }
};

}  // namespace

TEST_CASE("PFC as the kernel tells it", "[host.dcb]") {
  ieee_pfc pfc{};
  pfc.pfc_en = 0x18;
  for (unsigned i = 0; i < kPriorities; ++i) {
    pfc.requests[i] = 100 + i;
    pfc.indications[i] = 200 + i;
  }
  const auto read = parse_dcb_pfc(Answer(&pfc).payload());
  REQUIRE(read);
  CHECK(read->enabled == 0x18);
  CHECK(read->sent[3] == 103);
  CHECK(read->received[7] == 207);
}

TEST_CASE("no PFC, and half of one", "[host.dcb]") {
  const ieee_pfc pfc{};
  CHECK(parse_dcb_pfc(Answer(nullptr).payload()).error().code == ErrorCode::unsupported);
  CHECK(parse_dcb_pfc(Answer(&pfc, 8).payload()).error().code == ErrorCode::parse);
  CHECK(parse_dcb_pfc({}).error().code == ErrorCode::parse);
  const Answer whole(&pfc);
  for (std::size_t size = 0; size < whole.payload().size(); size += 4) CHECK_FALSE(parse_dcb_pfc(whole.payload().first(size)));
}

TEST_CASE("PFC of this machine", "[host.dcb]") {
  const auto dcb = kernel_dcb();
  CHECK(dcb->pfc("no-such-netdev").error().code == ErrorCode::not_found);
  CHECK(dcb->pfc("lo").error().code == ErrorCode::unsupported);
  CHECK(dcb->pfc(std::string(300, 'x')).error().code == ErrorCode::not_found);
}
