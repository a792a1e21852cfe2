// SPDX-License-Identifier: Apache-2.0
#include "collectors/physical_port.h"

#include <catch2/catch.hpp>

#include "unit/collectors/host/temp_tree.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

using Ports = std::vector<std::pair<std::string, PortNum>>;

PhysicalPort of(const Sysroot& root, const std::vector<DeviceDriver>& devices, const std::string& device, std::uint32_t port = 1) {
  return *physical_ports(root, devices).at({device, {port}});
}

Sysroot fixture(const std::string& name) { return Sysroot::open(QPSCOPE_SOURCE_DIR "/tests/fixtures/" + name).value(); }

std::vector<DeviceDriver> all(const Sysroot& root, const std::string& driver) {
  std::vector<DeviceDriver> out;
  const auto names = root.list("/sys/class/infiniband").value();
  for (const std::string& name : names) out.push_back({name, driver});
  return out;
}

// A host with a PCI bus as sysfs shows it.
struct Bus {
  TempTree tree;
  Sysroot root = Sysroot::open(tree.path()).value();
  std::vector<DeviceDriver> devices;

  void function(const std::string& address, const std::string& driver = "mlx5_core") const {
    tree.folder(real(address));
    tree.link("sys/bus/pci/devices/" + address, "../../../../" + real(address));
    if (!driver.empty()) tree.link(real(address) + "/driver", "../../../bus/pci/drivers/" + driver);
  }
  void virtual_function(const std::string& physical, int number, const std::string& address, const std::string& driver = "mlx5_core") const {
    function(address, driver);
    tree.link(real(address) + "/physfn", "../" + physical);
    tree.link(real(physical) + "/virtfn" + std::to_string(number), "../" + address);
  }
  void rdma(const std::string& name, const std::string& folder, const std::string& driver = "mlx5_core", int ports = 1) {
    rdma_at(name, real(folder), driver, ports);
  }
  void scalable(const std::string& physical, int number, const std::string& rdma_device = "") {
    const std::string folder = real(physical) + "/mlx5_core.sf." + std::to_string(number);
    tree.folder(folder);
    if (!rdma_device.empty()) rdma_at(rdma_device, folder, "mlx5_core", 1);
  }
  PhysicalPort port(const std::string& device, std::uint32_t number = 1) const { return of(root, devices, device, number); }

 private:
  static std::string real(const std::string& address) { return "sys/devices/pci0000:5e/" + address; }
  void rdma_at(const std::string& name, const std::string& folder, const std::string& driver, int ports) {
    const std::string own = folder + "/infiniband/" + name;
    for (int port = 1; port <= ports; ++port) tree.folder(own + "/ports/" + std::to_string(port));
    tree.link(own + "/device", "../..");
    tree.link("sys/class/infiniband/" + name, "../../../" + own);
    devices.push_back({name, driver});
  }
};

}  // namespace

TEST_CASE("two physical functions of a card are two ports", "[collectors.physical_port]") {
  const Sysroot root = fixture("01-mlx5-pf-roce-cx7");
  CHECK(of(root, all(root, "mlx5_core"), "mlx5_0") == PhysicalPort{{{"mlx5_0", {1}}}, ""});
  CHECK(of(root, all(root, "mlx5_core"), "mlx5_1") == PhysicalPort{{{"mlx5_1", {1}}}, ""});
}

TEST_CASE("virtual functions send through their physical function's port", "[collectors.physical_port]") {
  const Sysroot root = fixture("03-mlx5-vf-sriov");
  const Ports together{{"rocep94s0f0", {1}}, {"rocep94s0f0v0", {1}}, {"rocep94s0f0v1", {1}}, {"rocep94s0f0v2", {1}}};
  CHECK(of(root, all(root, "mlx5_core"), "rocep94s0f0") == PhysicalPort{together, ""});
  CHECK(of(root, all(root, "mlx5_core"), "rocep94s0f0v1") == PhysicalPort{together, ""});
}

TEST_CASE("a guest's virtual function shares its port with it knows not whom", "[collectors.physical_port]") {
  const Sysroot root = fixture("12-mana-rate-einval");
  const std::vector<DeviceDriver> devices{{"mlx5_0", "mlx5_core"}, {"mana_0", "mana"}};
  CHECK_FALSE(of(root, devices, "mlx5_0").stranger.empty());
  CHECK(of(root, devices, "mana_0") == PhysicalPort{{{"mana_0", {1}}}, ""});
}

TEST_CASE("software devices have their port for themselves, whatever they hang on", "[collectors.physical_port]") {
  const Sysroot root = fixture("16-rxe-and-siw");
  for (const auto& [port, physical] : physical_ports(root, all(root, "rdma_rxe"))) CHECK(*physical == PhysicalPort{{port}, ""});
  Bus bus;
  bus.function("0000:5e:00.0");
  bus.rdma("mlx5_0", "0000:5e:00.0");
  bus.rdma("rxe0", "0000:5e:00.0", "rdma_rxe");
  CHECK(bus.port("rxe0") == PhysicalPort{{{"rxe0", {1}}}, ""});
  CHECK(bus.port("mlx5_0") == PhysicalPort{{{"mlx5_0", {1}}}, ""});
}

TEST_CASE("a virtual function without an RDMA device here is a stranger", "[collectors.physical_port]") {
  Bus bus;
  bus.function("0000:5e:00.0");
  bus.rdma("mlx5_0", "0000:5e:00.0");
  bus.virtual_function("0000:5e:00.0", 0, "0000:5e:00.2");
  bus.rdma("mlx5_2", "0000:5e:00.2");
  CHECK(bus.port("mlx5_0").stranger.empty());
  bus.virtual_function("0000:5e:00.0", 1, "0000:5e:00.3", "vfio-pci");
  CHECK(bus.port("mlx5_0").stranger == "0000:5e:00.3");
  CHECK(bus.port("mlx5_2").stranger == "0000:5e:00.3");
  CHECK(bus.port("mlx5_2").ports == Ports{{"mlx5_0", {1}}, {"mlx5_2", {1}}});
  // It has one, but not for us.
  bus.tree.folder("sys/devices/pci0000:5e/0000:5e:00.3/infiniband/mlx5_3");
  CHECK(bus.port("mlx5_0").stranger == "0000:5e:00.3");
}

TEST_CASE("a physical function without an RDMA device is a stranger to its virtual ones", "[collectors.physical_port]") {
  Bus bus;
  bus.function("0000:5e:00.0");
  bus.virtual_function("0000:5e:00.0", 0, "0000:5e:00.2");
  bus.rdma("mlx5_2", "0000:5e:00.2");
  CHECK(bus.port("mlx5_2") == PhysicalPort{{{"mlx5_2", {1}}}, "0000:5e:00.0"});
}

TEST_CASE("scalable functions send through the port of their function", "[collectors.physical_port]") {
  Bus bus;
  bus.function("0000:5e:00.0");
  bus.rdma("mlx5_0", "0000:5e:00.0");
  bus.scalable("0000:5e:00.0", 4, "mlx5_4");
  const PhysicalPort both{{{"mlx5_0", {1}}, {"mlx5_4", {1}}}, ""};
  CHECK(bus.port("mlx5_0") == both);
  CHECK(bus.port("mlx5_4") == both);
  bus.scalable("0000:5e:00.0", 5);
  CHECK(bus.port("mlx5_0").stranger == "0000:5e:00.0/mlx5_core.sf.5");
}

TEST_CASE("representors have ports of the device whose port they use", "[collectors.physical_port]") {
  Bus bus;
  bus.function("0000:5e:00.0");
  bus.rdma("mlx5_0", "0000:5e:00.0", "mlx5_core", 3);
  const Ports three{{"mlx5_0", {1}}, {"mlx5_0", {2}}, {"mlx5_0", {3}}};
  CHECK(bus.port("mlx5_0", 1).ports == three);
  CHECK(bus.port("mlx5_0", 3).ports == three);
}

TEST_CASE("a bond serves the functions that have no device", "[collectors.physical_port]") {
  Bus bus;
  bus.function("0000:5e:00.0");
  bus.function("0000:5e:00.1");
  bus.rdma("mlx5_bond_0", "0000:5e:00.0");
  CHECK(bus.port("mlx5_bond_0") == PhysicalPort{{{"mlx5_bond_0", {1}}}, ""});
  bus.virtual_function("0000:5e:00.1", 0, "0000:5e:00.4");
  CHECK(bus.port("mlx5_bond_0").stranger == "0000:5e:00.4");
  bus.rdma("mlx5_4", "0000:5e:00.4");
  CHECK(bus.port("mlx5_bond_0") == PhysicalPort{{{"mlx5_4", {1}}, {"mlx5_bond_0", {1}}}, ""});
  // Without a bond each has a device.
  bus.rdma("mlx5_1", "0000:5e:00.1");
  CHECK(bus.port("mlx5_bond_0") == PhysicalPort{{{"mlx5_bond_0", {1}}}, ""});
}

TEST_CASE("functions of mlx4 have both ports of the card", "[collectors.physical_port]") {
  Bus bus;
  bus.function("0000:5e:00.0", "mlx4_core");
  bus.rdma("mlx4_0", "0000:5e:00.0", "mlx4_core", 2);
  bus.virtual_function("0000:5e:00.0", 0, "0000:5e:00.1", "mlx4_core");
  bus.rdma("mlx4_1", "0000:5e:00.1", "mlx4_core", 2);
  CHECK(bus.port("mlx4_0", 1).ports == Ports{{"mlx4_0", {1}}, {"mlx4_1", {1}}});
  CHECK(bus.port("mlx4_1", 2).ports == Ports{{"mlx4_0", {2}}, {"mlx4_1", {2}}});
}
