// SPDX-License-Identifier: Apache-2.0
#include "core/rdma.h"

#include <catch2/catch.hpp>

using namespace qpscope;

TEST_CASE("names are those of the rdma tool", "[core.rdma]") {
  CHECK(to_string(QpState::reset) == "RESET");
  CHECK(to_string(QpState::rts) == "RTS");
  CHECK(to_string(QpState::err) == "ERR");
  CHECK(to_string(static_cast<QpState>(7)) == "UNKNOWN");
  CHECK(to_string(QpType::smi) == "SMI");
  CHECK(to_string(QpType::raw_packet) == "RAW_PACKET");
  CHECK(to_string(QpType::xrc_tgt) == "XRC_TGT");
  CHECK(to_string(static_cast<QpType>(7)) == "UNKNOWN");
  CHECK(to_string(static_cast<QpType>(11)) == "UNKNOWN");
  CHECK(to_string(QpType::driver) == "DRIVER");
  CHECK(to_string(static_cast<QpType>(0x1000)) == "DRIVER");
}

TEST_CASE("a state the kernel does not have is none", "[core.rdma]") {
  CHECK(qp_state_from_number(0) == QpState::reset);
  CHECK(qp_state_from_number(6) == QpState::err);
  CHECK_FALSE(qp_state_from_number(7));
  CHECK_FALSE(qp_state_from_number(~0U));
}

TEST_CASE("the MTU enum in bytes", "[core.rdma]") {
  CHECK_FALSE(mtu_bytes(0));
  CHECK(mtu_bytes(1) == 256U);
  CHECK(mtu_bytes(3) == 1024U);
  CHECK(mtu_bytes(5) == 4096U);
  CHECK_FALSE(mtu_bytes(6));
}

TEST_CASE("SMI and GSI are named with their port, nothing else is", "[core.rdma]") {
  CHECK(restrack_id(QpType::gsi, {1}, {1}) != restrack_id(QpType::gsi, {1}, {2}));
  CHECK(restrack_id(QpType::gsi, {1}, {2}) == (2U << 24 | 1U));
  CHECK(restrack_id(QpType::rc, {17}, {1}) == restrack_id(QpType::rc, {17}, {2}));
}

TEST_CASE("a GID reads back as it is printed", "[core.rdma]") {
  Gid gid;
  gid.bytes = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x0e, 0x42, 0xa1, 0xff, 0xfe, 0, 0, 0x01};
  const std::string text = "fe80:0000:0000:0000:0e42:a1ff:fe00:0001";
  CHECK(to_string(gid) == text);
  CHECK(parse_gid(text) == gid);
  CHECK(parse_gid("FE80:0000:0000:0000:0E42:A1FF:FE00:0001") == gid);
}

TEST_CASE("what is no GID is refused", "[core.rdma]") {
  for (const char* text : {"", "fe80::1", "fe80:0000:0000:0000:0e42:a1ff:fe00:000", "fe80:0000:0000:0000:0e42:a1ff:fe00:00011",
                           "fe80.0000:0000:0000:0e42:a1ff:fe00:0001", "fe80:0000:0000:0000:0e42:a1ff:fe00:000g",
                           "0xfe:0000:0000:0000:0e42:a1ff:fe00:0001", "-e80:0000:0000:0000:0e42:a1ff:fe00:0001"}) {
    CHECK_FALSE(parse_gid(text));
  }
}
