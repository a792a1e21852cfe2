// SPDX-License-Identifier: Apache-2.0
#include "collectors/driver.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "collectors/counter_folder.h"
#include "collectors/fact.h"
#include "collectors/host/nldev.h"
#include "core/text.h"

namespace qpscope {
namespace {

// enum rdma_driver_id, for the drivers whose PCI driver, which is what the link names, has the same name.
std::string_view name_of(std::uint32_t driver_id) {
  constexpr std::pair<std::uint32_t, std::string_view> names[] = {{1, "mlx5_core"}, {2, "mlx4_core"}, {14, "rdma_rxe"}, {15, "hfi1"},
                                                                  {17, "efa"},      {18, "siw"},      {19, "erdma"},    {20, "mana"}};
  const auto* found = std::ranges::find(names, driver_id, [](const auto& row) { return row.first; });
  return found == std::end(names) ? std::string_view() : found->second;
}

// Netlink knows the driver whatever the device hangs on: a scalable function, a platform device, nothing at all.
std::string by_netlink(const std::string& device) {
  auto nldev = Nldev::open();
  if (!nldev) return {};
  const auto devices = nldev->devices();
  if (!devices) return {};
  const auto found = std::ranges::find(*devices, device, &NlDevice::name);
  if (found == devices->end()) return {};
  const auto id = nldev->driver_id(found->index);
  return id ? std::string(name_of(*id)) : std::string();
}

}  // namespace

Result<std::string> driver_of(const Host& host, const std::string& device) {
  if (host.live) {
    if (std::string known = by_netlink(device); !known.empty()) return known;
  }
  const std::string path = device_path(device);
  // Software devices first: over a real NIC some kernels give them that NIC as parent device.
  if (host.root.exists(path + "/parent")) return std::string("rdma_rxe");  // an attribute only rxe has (sw/rxe/rxe_verbs.c parent_show)
  auto name = host.root.link_name(path + "/device/driver");
  if (name || !(absent(name.error()) || name.error().code == ErrorCode::invalid)) return name;
  // siw has no attribute of its own: an iWARP device (node type RNIC) without a parent device is it.
  const auto type = host.root.read_text(path + "/node_type");
  if (!type && !absent(type.error())) return std::unexpected(type.error());
  if (type && trim(*type).starts_with("4:") && !host.root.exists(path + "/device")) return std::string("siw");
  return std::string();
}

std::string netdev_of(const Host& host, const std::string& device, const std::string& port, const std::function<void(const Error&)>& failed) {
  const std::string path = device_path(device) + "/ports/" + port + "/gid_attrs/ndevs";
  const auto slots = host.root.list(path);
  if (!slots && !absent(slots.error())) failed(slots.error());
  if (!slots) return {};
  for (const std::string& slot : *slots) {
    const auto name = host.root.read_text(path + "/" + slot);
    if (name && !trim(*name).empty()) return std::string(trim(*name));
    // An empty slot answers EINVAL (core/sysfs.c _show_port_gid_attr, print_ndev).
    if (!name && name.error().sys_errno != EINVAL && !absent(name.error())) failed(name.error());
    if (slot == "8") break;  // mlx5 has 256 slots and fills the first
  }
  return {};
}

bool has_firmware(std::string_view driver) { return driver != "rdma_rxe" && driver != "siw"; }

FirmwareCost firmware_cost(std::string_view driver) {
  if (!has_firmware(driver)) return {};
  const bool mlx5 = driver == "mlx5_core";
  return {.port_query = 1, .counters_file = 1, .hw_counters = mlx5 ? 3U : 1U, .ethtool = mlx5 ? 43U : 1U, .pfc = 1};
}

}  // namespace qpscope
