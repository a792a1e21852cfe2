// SPDX-License-Identifier: Apache-2.0
#include "collectors/port_carriers.h"

#include <catch2/catch.hpp>

#include "unit/collectors/host/temp_tree.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

using Names = std::vector<std::string>;
const std::string kFirst = "0000:3b:00.0", kSecond = "0000:3b:00.1", kOther = "0000:5e:00.0";

struct Machine {
  TempTree tree;
  Sysroot root = Sysroot::open(tree.path()).value();
  Host host{.root = root};

  Machine() {
    for (const std::string& function : {kFirst, kSecond, kOther}) tree.file(at(function) + "/vendor", "0x15b3\n");
    device("mlx5_0", kFirst);
  }
  static std::string at(const std::string& function) { return "sys/devices/" + function; }
  void device(const std::string& name, const std::string& function) const {
    tree.folder("sys/class/infiniband/" + name + "/ports/1");
    tree.folder(at(function) + "/infiniband/" + name);
    tree.link("sys/class/infiniband/" + name + "/device", "../../../devices/" + function);
  }
  void gid(const std::string& device, const std::string& netdev) const { tree.file("sys/class/infiniband/" + device + "/ports/1/gid_attrs/ndevs/0", netdev + "\n"); }
  void netdev(const std::string& name, const std::string& function = "") const {
    tree.file("sys/class/net/" + name + "/ifindex", "1\n");
    tree.file("sys/class/net/" + name + "/iflink", "1\n");
    tree.file("sys/class/net/" + name + "/dev_port", "0\n");
    if (function.empty()) return;
    tree.link("sys/class/net/" + name + "/device", "../../../devices/" + function);
    tree.folder(at(function) + "/net/" + name);
  }
  void over(const std::string& upper, const Names& lower) const {
    netdev(upper);
    for (const std::string& one : lower) tree.link("sys/class/net/" + upper + "/lower_" + one, "../" + one);
  }
  PortCarriers of(const std::string& device = "mlx5_0", const std::optional<std::string>& told = {}) const {
    return carriers_of_port(host, device, "1", told);
  }
};

}  // namespace

TEST_CASE("port netdevs: netlink, the GID table, the function", "[collectors.port_carriers]") {
  Machine machine;
  CHECK(machine.of().top.empty());
  machine.netdev("eth0", kFirst);
  CHECK(machine.of().top == "eth0");  // the only one of the function
  machine.netdev("eth1", kFirst);
  CHECK(machine.of().top.empty());  // two: nobody can tell
  machine.gid("mlx5_0", "eth1");
  CHECK(machine.of().top == "eth1");
  CHECK(machine.of("mlx5_0", "eth0").top == "eth0");
  CHECK(machine.of("mlx5_0", "eth0").lowest == Names{"eth0"});
}

TEST_CASE("port netdevs: an IPoIB partition is none", "[collectors.port_carriers]") {
  const Machine machine;
  machine.netdev("ib0", kFirst);
  machine.netdev("ib0.8001", kFirst);
  machine.tree.file("sys/class/net/ib0.8001/iflink", "7\n");
  CHECK(machine.of().top == "ib0");
}

TEST_CASE("port netdevs: RoCE LAG and a VLAN over it", "[collectors.port_carriers]") {
  Machine machine;
  machine.netdev("eth0", kFirst);
  machine.netdev("eth1", kSecond);
  machine.over("bond0", {"eth0", "eth1"});
  machine.gid("mlx5_0", "bond0");
  CHECK(machine.of().lowest == Names{"eth0", "eth1"});
  CHECK(machine.of("mlx5_0", "eth0").top == "bond0");  // netlink may name a member
  CHECK(machine.of("mlx5_0", "bond0").top == "bond0");
  machine.over("bond0.5", {"bond0"});
  machine.gid("mlx5_0", "bond0.5");
  CHECK(machine.of().top == "bond0.5");
  CHECK(machine.of().lowest == Names{"eth0", "eth1"});
  // Of another card: a bond across cards is no RoCE LAG.
  machine.netdev("eth2", kOther);
  machine.over("bond1", {"eth0", "eth2"});
  machine.gid("mlx5_0", "bond1");
  CHECK(machine.of().lowest == Names{"eth0"});
}

TEST_CASE("port netdevs: a bond that lists its members", "[collectors.port_carriers]") {
  const Machine machine;
  machine.netdev("eth03");
  machine.netdev("eth04");
  machine.netdev("bond0");
  machine.tree.file("sys/class/net/bond0/bonding/slaves", "eth03 eth04\n");
  machine.gid("mlx5_0", "bond0");
  CHECK(machine.of().lowest == Names{"eth03", "eth04"});
}

TEST_CASE("port netdevs: in a bond of two RDMA devices each has its own", "[collectors.port_carriers]") {
  const Machine machine;
  machine.device("mlx5_1", kSecond);
  machine.netdev("eth0", kFirst);
  machine.netdev("eth1", kSecond);
  machine.over("bond0", {"eth0", "eth1"});
  for (const char* device : {"mlx5_0", "mlx5_1"}) machine.gid(device, "bond0");
  CHECK(machine.of("mlx5_0").lowest == Names{"eth0"});
  CHECK(machine.of("mlx5_1").lowest == Names{"eth1"});
}

TEST_CASE("port netdevs: a name that belongs to somebody else", "[collectors.port_carriers]") {
  const Machine machine;
  machine.netdev("eth0", kOther);  // ours has gone to a container
  machine.gid("mlx5_0", "eth0");
  CHECK(machine.of().lowest.empty());
}

TEST_CASE("port netdevs: soft-RoCE", "[collectors.port_carriers]") {
  const Machine machine;
  machine.tree.folder("sys/class/infiniband/rxe0/ports/1");
  machine.tree.file("sys/class/infiniband/rxe0/parent", "eth9\n");
  machine.netdev("eth9");
  CHECK(machine.of("rxe0").lowest == Names{"eth9"});
  // Over a NIC that has RDMA: the statistics are the NIC's, also where the kernel gives rxe the NIC as parent device.
  machine.tree.file("sys/class/infiniband/rxe1/parent", "eth0\n");
  machine.netdev("eth0", kFirst);
  machine.device("rxe1", kFirst);
  CHECK(machine.of("rxe1").lowest.empty());
  CHECK(machine.of("mlx5_0").lowest == Names{"eth0"});
}

TEST_CASE("port netdevs: loops, depth, numbers and hostile names", "[collectors.port_carriers]") {
  Machine machine;
  machine.over("a", {"b"});
  machine.over("b", {"a"});
  machine.gid("mlx5_0", "a");
  CHECK(machine.of().lowest.size() <= 1);
  Names many;
  for (int i = 0; i < 100; ++i) many.push_back("m" + std::to_string(i));
  for (const std::string& one : many) machine.netdev(one);
  machine.over("bond9", many);
  machine.gid("mlx5_0", "bond9");
  CHECK(machine.of().lowest.size() == 16);
  machine.netdev("bond8");
  machine.tree.file("sys/class/net/bond8/bonding/slaves", "  .. ../../.. a/b m1  this_name_is_far_too_long m2");
  machine.gid("mlx5_0", "bond8");
  CHECK(machine.of().lowest == Names{"m1", "m2"});
  machine.gid("mlx5_0", "../net/m1");
  CHECK(machine.of().top.empty());
}

TEST_CASE("netdev flavours", "[collectors.port_carriers]") {
  const Machine machine;
  const auto flavour = [&](const std::string& phys_port_name) {
    machine.tree.file("sys/class/net/eth0/phys_port_name", phys_port_name + "\n");
    return netdev_flavour(machine.host, "mlx5_0", "eth0");
  };
  machine.netdev("eth0", kFirst);
  CHECK(netdev_flavour(machine.host, "mlx5_0", "eth0") == "physical");
  CHECK(flavour("p0") == "physical");
  CHECK(flavour("p1s2") == "physical");
  CHECK(flavour("pf0vf12") == "pcivf");
  CHECK(flavour("c1pf0vf3") == "pcivf");
  CHECK(flavour("pf0sf88") == "pcisf");
  CHECK(flavour("pf0") == "pcipf");
  CHECK(flavour("c1pf1") == "pcipf");
  CHECK(flavour("") == "physical");
  machine.tree.link(Machine::at(kFirst) + "/physfn", "../" + kOther);
  CHECK(flavour("") == "virtual");
  machine.tree.file(Machine::at(kSecond) + "/device", "0x101e\n");  // of a virtual function in a guest
  machine.netdev("eth1", kSecond);
  CHECK(netdev_flavour(machine.host, "mlx5_0", "eth1") == "virtual");
  machine.tree.folder("sys/class/infiniband/rxe0");
  machine.netdev("veth0");
  CHECK(netdev_flavour(machine.host, "rxe0", "veth0").empty());
  CHECK(tells_of_physical_port("physical"));
  CHECK(tells_of_physical_port(""));
  CHECK_FALSE(tells_of_physical_port("virtual"));
  CHECK_FALSE(tells_of_physical_port("pcivf"));
  CHECK(is_representor("pcisf"));
  CHECK_FALSE(is_representor("physical"));
}
