// SPDX-License-Identifier: Apache-2.0
#include "collectors/port_netdevs.h"

#include <catch2/catch.hpp>

#include "support/fake_host.h"
#include "support/fake_netlink.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

using Names = std::map<std::string, std::string>;

// A device in switchdev mode: an uplink, and two ports without GIDs.
struct Switch {
  Site site;
  Switch() {
    for (const char* port : {"1", "2", "3"}) site.tree.file(kDevice + "/ports/" + port + "/state", "4: ACTIVE\n");
    site.tree.file(kDevice + "/ports/1/gid_attrs/ndevs/0", "up\n");
    netdev("up", "p0\n");
  }
  void netdev(const std::string& name, std::string_view phys_port_name) const {
    site.tree.file(kDevice + "/device/net/" + name + "/address", "02:00:5e:00:53:01\n");
    site.tree.file("sys/class/net/" + name + "/phys_port_name", phys_port_name);
  }
  Names names(std::string_view driver = "mlx5_core") const {
    return port_netdevs(site.host, "mlx5_0", driver, nullptr, [](const Error&) {}).names;
  }
};

}  // namespace

TEST_CASE("representors are the ports without a GID, in the order of their VFs", "[collectors.port_netdevs]") {
  Switch card;
  card.netdev("a", "pf0vf10\n");
  card.netdev("b", "pf0vf9\n");
  CHECK(card.names() == Names{{"1", "up"}, {"2", "b"}, {"3", "a"}});
  CHECK(card.names("bnxt_en") == Names{{"1", "up"}});
}

TEST_CASE("no guess where they are not as many, or not all VFs", "[collectors.port_netdevs]") {
  Switch card;
  const Names uplink{{"1", "up"}};
  card.netdev("a", "pf0vf0\n");
  CHECK(card.names() == uplink);
  card.netdev("b", "pf0sf1\n");
  CHECK(card.names() == uplink);
  card.netdev("b", "pf1vf1\n");
  CHECK(card.names() == uplink);
  card.netdev("b", "pf0vf1\n");
  CHECK(card.names().size() == 3);
  card.netdev("c", "pf0vf2\n");
  CHECK(card.names() == uplink);
}

TEST_CASE("where there is netlink, it tells", "[collectors.port_netdevs]") {
  Switch card;
  card.netdev("a", "pf0vf0\n");
  card.netdev("b", "pf0vf1\n");
  FakeNetlink netlink;
  const auto line = netlink.line();
  const auto ask = [&] { return port_netdevs(card.site.host, "mlx5_0", "mlx5_core", line.get(), [](const Error&) {}); };
  CHECK(ask().names == Names{{"1", "up"}});  // in another network namespace
  CHECK(ask().asked == 2);
  netlink.state.netdev = "x";
  CHECK(ask().names == Names{{"1", "up"}, {"2", "x"}, {"3", "x"}});
  netlink.fail("port", EINVAL);
  CHECK(ask().names == Names{{"1", "up"}});
}
