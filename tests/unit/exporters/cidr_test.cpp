// SPDX-License-Identifier: Apache-2.0
#include "exporters/cidr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

using namespace qpscope;

namespace {

bool contains(std::string_view network, const char* peer) {
  const auto range = Cidr::parse(network);
  REQUIRE(range);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  if (inet_pton(AF_INET, peer, &v4.sin_addr) == 1) return range->contains(reinterpret_cast<const sockaddr*>(&v4));
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  REQUIRE(inet_pton(AF_INET6, peer, &v6.sin6_addr) == 1);
  return range->contains(reinterpret_cast<const sockaddr*>(&v6));
}

}  // namespace

TEST_CASE("IPv4 networks", "[exporters.cidr]") {
  CHECK(contains("10.0.0.0/8", "10.255.1.2"));
  CHECK_FALSE(contains("10.0.0.0/8", "11.0.0.0"));
  CHECK(contains("10.1.2.3/8", "10.9.9.9"));  // host bits do not matter
  CHECK(contains("192.0.2.7", "192.0.2.7"));
  CHECK_FALSE(contains("192.0.2.7", "192.0.2.6"));
  CHECK(contains("192.0.2.128/25", "192.0.2.255"));
  CHECK_FALSE(contains("192.0.2.128/25", "192.0.2.127"));
  CHECK(contains("192.0.2.4/31", "192.0.2.5"));
  CHECK_FALSE(contains("192.0.2.4/31", "192.0.2.6"));
  CHECK(contains("0.0.0.0/0", "203.0.113.9"));
  CHECK_FALSE(contains("0.0.0.0/0", "2001:db8::1"));
}

TEST_CASE("IPv6 networks, and IPv4 peers of a dual-stack socket", "[exporters.cidr]") {
  CHECK(contains("::1/128", "::1"));
  CHECK_FALSE(contains("::1/128", "::2"));
  CHECK(contains("2001:db8::/33", "2001:db8:7fff::1"));
  CHECK_FALSE(contains("2001:db8::/33", "2001:db8:8000::1"));
  CHECK(contains("10.0.0.0/8", "::ffff:10.1.1.1"));
  CHECK_FALSE(contains("10.0.0.0/8", "::ffff:11.1.1.1"));
  CHECK_FALSE(contains("127.0.0.0/8", "::1"));
  CHECK_FALSE(contains("127.0.0.0/8", "::7f00:1"));  // the old "compatible" form is no IPv4 peer
  CHECK(contains("::/0", "192.0.2.1"));
}

TEST_CASE("a peer of another family is in no network", "[exporters.cidr]") {
  sockaddr_un peer{};
  peer.sun_family = AF_UNIX;
  CHECK_FALSE(Cidr::parse("::/0")->contains(reinterpret_cast<const sockaddr*>(&peer)));
}

TEST_CASE("what is no network is refused with an example", "[exporters.cidr]") {
  for (const std::string_view bad :
       {"", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "::1/129", "10.0.0/8", "10.0.0.0/8x", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/ 8",
        "10.0.0.0/8/8", "localhost", "::g", "10.0.0.256", " 10.0.0.1", "10.0.0.0/4294967304"}) {
    INFO(bad);
    const auto range = Cidr::parse(bad);
    REQUIRE_FALSE(range);
    CHECK(range.error().code == ErrorCode::invalid);
    CHECK_THAT(range.error().what, Catch::Contains("10.0.0.0/8"));
  }
  CHECK_FALSE(Cidr::parse(std::string_view("10.0.0.0\0x", 10)));
}
