// SPDX-License-Identifier: Apache-2.0
#include "collectors/driver.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "collectors/counter_folder.h"
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

std::string driver_of(const Host& host, const std::string& device) {
  if (host.live) {
    if (std::string name = by_netlink(device); !name.empty()) return name;
  }
  const std::string path = device_path(device);
  // Software devices first: over a real NIC some kernels give them that NIC as parent device.
  if (host.root.exists(path + "/parent")) return "rdma_rxe";  // an attribute only rxe has (sw/rxe/rxe_verbs.c parent_show)
  if (auto name = host.root.link_name(path + "/device/driver")) return *name;
  // siw has no attribute of its own: an iWARP device (node type RNIC) without a parent device is it.
  const auto type = host.root.read_text(path + "/node_type");
  if (type && trim(*type).starts_with("4:") && !host.root.exists(path + "/device")) return "siw";
  return {};
}

FirmwareCost firmware_cost(std::string_view driver) {
  if (driver == "rdma_rxe" || driver == "siw") return {};
  return {.port_query = 1, .counters_file = 1, .hw_counters = driver == "mlx5_core" ? 3U : 1U};
}

}  // namespace qpscope
