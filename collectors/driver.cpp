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

// enum rdma_driver_id (uapi/rdma/ib_user_ioctl_verbs.h): the PCI driver, which is what the link names, where each has one.
constexpr std::string_view kIrdma = "irdma";  // stands on three: i40e, ice, idpf
std::string_view name_of(std::uint32_t driver_id) {
  constexpr std::pair<std::uint32_t, std::string_view> names[] = {
      {1, "mlx5_core"}, {2, "mlx4_core"},    {3, "cxgb3"}, {4, "cxgb4"}, {5, "ib_mthca"},      {6, "bnxt_en"},   {7, "be2net"}, {8, "iw_nes"},
      {9, kIrdma},      {10, "vmw_pvrdma"}, {11, "qede"}, {12, "hns3"}, {13, "usnic_verbs"}, {14, "rdma_rxe"}, {15, "hfi1"},  {16, "ib_qib"},
      {17, "efa"},      {18, "siw"},        {19, "erdma"}, {20, "mana"}, {21, "ionic"},       {22, "bng_en"}};
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
  const std::string told = host.live ? by_netlink(device) : std::string();
  if (!told.empty() && told != kIrdma) return told;
  const std::string path = device_path(device);
  // Software devices first: over a real NIC some kernels give them that NIC as parent device.
  if (host.root.exists(path + "/parent")) return std::string("rdma_rxe");  // an attribute only rxe has (sw/rxe/rxe_verbs.c parent_show)
  auto name = host.root.link_name(path + "/device/driver");
  if (name || !(absent(name.error()) || name.error().code == ErrorCode::invalid)) return name;
  // siw has no attribute of its own: an iWARP device (node type RNIC) without a parent device is it.
  const auto type = host.root.read_text(path + "/node_type");
  if (!type && !absent(type.error())) return std::unexpected(type.error());
  if (type && trim(*type).starts_with("4:") && !host.root.exists(path + "/device")) return std::string("siw");
  return told;
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

bool is_made_up(std::string_view driver, std::string_view link_layer, double gigabits) {
  return driver == "efa" || (link_layer == "Ethernet" && gigabits == 2.5);
}

FirmwareCost firmware_cost(std::string_view driver) {
  if (!has_firmware(driver)) return {};
  const bool mlx5 = driver == "mlx5_core";
  return {.port_query = 1, .counters_file = 1, .hw_counters = mlx5 ? 3U : 1U, .ethtool = mlx5 ? 43U : 1U, .pfc = 1};
}

}  // namespace qpscope
