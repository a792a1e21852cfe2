// SPDX-License-Identifier: Apache-2.0
#include "collectors/missing_devices.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "collectors/counter_folder.h"
#include "core/text.h"

namespace qpscope {
namespace {

constexpr const char* kBus = "/sys/bus/pci/devices";

struct Function {
  std::string path;
  bool infiniband = false;  // by its class; else Ethernet
  std::uint64_t vendor = 0, device = 0;
  std::string driver;       // "": none
  bool is_virtual = false;

  std::tuple<std::uint64_t, std::uint64_t, std::string> kind() const { return {vendor, device, driver}; }
};

// Drivers that hand a function to somebody else: a virtual machine or a program in user space.
bool given_away(const Function& one) {
  constexpr std::array<std::string_view, 6> hands{"pci-stub", "pciback", "xen-pciback", "pci_stub", "uio_pci_generic", "igb_uio"};
  if (one.driver.empty()) return one.is_virtual;
  return one.driver.find("vfio") != std::string::npos || std::ranges::find(hands, one.driver) != hands.end();
}

// ConnectX-4 or later, and the network functions of BlueField (mlx5_core_pci_table in mlx5/core/main.c).
bool is_mlx5(const Function& one) {
  constexpr std::array<std::uint64_t, 5> bluefield{0xa2d2, 0xa2d3, 0xa2d6, 0xa2dc, 0xa2df};
  return one.vendor == 0x15b3 && ((one.device >= 0x1013 && one.device <= 0x10ff) || std::ranges::find(bluefield, one.device) != bluefield.end());
}

std::optional<Function> function_at(const Sysroot& root, const std::string& address) {
  Function one{.path = std::string(kBus) + "/" + address};
  const auto type = root.read_u64(one.path + "/class"), vendor = root.read_u64(one.path + "/vendor"), device = root.read_u64(one.path + "/device");
  if (!type || !vendor || !device) return std::nullopt;
  one.infiniband = *type >> 8 == 0x0207;
  if (!one.infiniband && *type >> 8 != 0x0200) return std::nullopt;
  one.vendor = *vendor;
  one.device = *device;
  one.driver = root.link_name(one.path + "/driver").value_or("");
  one.is_virtual = root.exists(one.path + "/physfn");
  return one;
}

// The PCI functions that an RDMA device hangs on.
std::set<std::string> addresses_of(const Sysroot& root, const std::vector<std::string>& devices) {
  std::set<std::string> out;
  for (const std::string& name : devices) out.insert(root.link_name(device_path(name) + "/device").value_or(""));
  return out;
}

bool in_a_bond(const Sysroot& root, const Function& one) {
  const auto netdevs = root.list(one.path + "/net");
  return netdevs && std::ranges::any_of(*netdevs, [&](const std::string& netdev) { return root.exists(one.path + "/net/" + netdev + "/master"); });
}

}  // namespace

std::optional<std::size_t> missing_devices(const Host& host, const std::vector<std::string>& devices) {
  const Sysroot& root = host.root;
  const auto addresses = root.list(kBus);
  if (!addresses) return std::nullopt;
  const std::set<std::string> served = addresses_of(root, devices);
  std::set<decltype(Function{}.kind())> kinds;  // that have an RDMA device, with their driver and as if they had none
  std::vector<Function> without;
  for (const std::string& address : *addresses) {
    auto one = function_at(root, address);
    if (!one) continue;
    // The folder is there also where the device itself is in another network namespace.
    if (!served.contains(address) && !root.exists(one->path + "/infiniband")) {
      without.push_back(std::move(*one));
      continue;
    }
    kinds.insert(one->kind());
    one->driver.clear();
    kinds.insert(one->kind());
  }
  return static_cast<std::size_t>(std::ranges::count_if(without, [&](const Function& one) {
    if (given_away(one)) return false;
    if (one.infiniband) return true;
    if (one.driver.empty() && is_mlx5(one)) return true;
    return kinds.contains(one.kind()) && !in_a_bond(root, one);
  }));
}

}  // namespace qpscope
