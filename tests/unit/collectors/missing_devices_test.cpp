// SPDX-License-Identifier: Apache-2.0
#include "collectors/missing_devices.h"

#include <catch2/catch.hpp>

#include "unit/collectors/host/temp_tree.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

const std::string kEthernet = "0x020000", kInfiniBand = "0x020700";
const std::string kConnectX7 = "0x1021", kConnectX3 = "0x1003", kThor = "0x1750";

struct Bus {
  TempTree tree;
  Sysroot root = Sysroot::open(tree.path()).value();
  int functions = 0;

  std::string add(const std::string& type, const std::string& vendor, const std::string& device, const std::string& driver = "") {
    const std::string address = "0000:0" + std::to_string(functions++) + ":00.0", path = "sys/bus/pci/devices/" + address;
    tree.file(path + "/class", type + "\n");
    tree.file(path + "/vendor", vendor + "\n");
    tree.file(path + "/device", device + "\n");
    if (!driver.empty()) tree.link(path + "/driver", "../../../bus/pci/drivers/" + driver);
    return address;
  }
  std::string mlx5(const std::string& driver = "mlx5_core", const std::string& type = kEthernet) { return add(type, "0x15b3", kConnectX7, driver); }
  // An RDMA device on that function.
  void rdma(const std::string& name, const std::string& address) const { tree.link("sys/class/infiniband/" + name + "/device", "../../../" + address); }
  void virtual_function(const std::string& address) const { tree.link("sys/bus/pci/devices/" + address + "/physfn", "../0000:00:00.0"); }
  std::size_t missing() const { return missing_devices({.root = root}, root.list("/sys/class/infiniband").value_or(std::vector<std::string>())).value(); }
};

}  // namespace

TEST_CASE("without a PCI bus nobody can tell", "[collectors.missing_devices]") {
  Bus bus;
  CHECK_FALSE(missing_devices({.root = bus.root}, {}));
  bus.tree.folder("sys/bus/pci/devices");
  CHECK(bus.missing() == 0);
}

TEST_CASE("an InfiniBand controller should have a device, whatever its driver says", "[collectors.missing_devices]") {
  Bus bus;
  bus.rdma("mlx5_0", bus.mlx5("mlx5_core", kInfiniBand));
  CHECK(bus.missing() == 0);
  bus.mlx5("mlx5_core", kInfiniBand);
  CHECK(bus.missing() == 1);
  bus.mlx5("", kInfiniBand);
  bus.add(kInfiniBand, "0x15b3", kConnectX3);
  CHECK(bus.missing() == 3);
}

TEST_CASE("an Ethernet function should have what its like has", "[collectors.missing_devices]") {
  Bus bus;
  bus.add(kEthernet, "0x14e4", kThor, "bnxt_en");
  bus.add(kEthernet, "0x14e4", kThor);
  CHECK(bus.missing() == 0);  // nobody says that RDMA is wanted
  bus.rdma("bnxt_re0", bus.add(kEthernet, "0x14e4", kThor, "bnxt_en"));
  CHECK(bus.missing() == 2);
  bus.add(kEthernet, "0x14e4", "0x16d7", "bnxt_en");  // another kind
  bus.add(kEthernet, "0x8086", kThor, "bnxt_en");
  CHECK(bus.missing() == 2);
}

TEST_CASE("an mlx5 card without a driver is missing even when it is alone", "[collectors.missing_devices]") {
  Bus bus;
  bus.add("0x028000", "0x15b3", kConnectX3);
  bus.add(kEthernet, "0x15b3", kConnectX3);
  bus.add(kEthernet, "0x15b3", "0x6050");  // no NIC of mlx5
  bus.mlx5();                              // Ethernet alone may be what is wanted
  CHECK(bus.missing() == 0);
  bus.mlx5("");
  bus.add(kEthernet, "0x15b3", "0xa2dc");
  CHECK(bus.missing() == 2);
}

TEST_CASE("what is given away is not missing", "[collectors.missing_devices]") {
  Bus bus;
  bus.rdma("mlx5_0", bus.mlx5());
  for (const char* driver : {"vfio-pci", "mlx5_vfio_pci", "pci-stub", "uio_pci_generic"}) {
    bus.mlx5(driver);
    bus.mlx5(driver, kInfiniBand);
  }
  bus.virtual_function(bus.mlx5(""));
  bus.virtual_function(bus.mlx5("", kInfiniBand));
  bus.virtual_function(bus.mlx5("vfio-pci"));
  CHECK(bus.missing() == 0);
  bus.virtual_function(bus.mlx5());
  CHECK(bus.missing() == 1);
}

TEST_CASE("ports in a bond share a device", "[collectors.missing_devices]") {
  Bus bus;
  bus.rdma("mlx5_bond_0", bus.mlx5());
  const std::string second = bus.mlx5();
  CHECK(bus.missing() == 1);
  bus.tree.folder("sys/devices/virtual/net/bond0");
  bus.tree.link("sys/bus/pci/devices/" + second + "/net/eth1/master", "/sys/devices/virtual/net/bond0");
  CHECK(bus.missing() == 0);
}

TEST_CASE("a device in another network namespace is not missing", "[collectors.missing_devices]") {
  Bus bus;
  bus.rdma("mlx5_0", bus.mlx5());
  bus.tree.folder("sys/bus/pci/devices/" + bus.mlx5() + "/infiniband");
  CHECK(bus.missing() == 0);
}

TEST_CASE("functions that cannot be read are not guessed", "[collectors.missing_devices]") {
  Bus bus;
  bus.tree.folder("sys/bus/pci/devices/0000:09:00.0");
  bus.tree.file("sys/bus/pci/devices/0000:0a:00.0/class", "nonsense\n");
  bus.tree.file("sys/bus/pci/devices/0000:0b:00.0/class", kInfiniBand + "\n");
  CHECK(bus.missing() == 0);
}
