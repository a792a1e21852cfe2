// SPDX-License-Identifier: Apache-2.0
#include "collectors/port_netdevs.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "collectors/counter_folder.h"
#include "collectors/driver.h"
#include "collectors/representor.h"

namespace qpscope {
namespace {

unsigned number_of(const std::string& digits) {
  unsigned out = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return out;
}

// Of the function's netdevs that no port has, those that stand for VFs of one PF, by VF. Empty if any stands for something else.
std::vector<std::string> representors(const Host& host, const std::string& device, const std::map<std::string, std::string>& taken,
                                      const std::function<void(const Error&)>& failed) {
  std::vector<std::pair<unsigned, std::string>> found;
  std::string pf;
  bool clear = true;
  for (const std::string& netdev : host.root.list(device_path(device) + "/device/net").value_or(std::vector<std::string>())) {
    if (std::ranges::any_of(taken, [&](const auto& port) { return port.second == netdev; })) continue;
    const auto one = representor_of(host, netdev);
    if (!one) failed(one.error());
    clear &= one.has_value();
    if (!one || !*one) continue;
    clear &= !(*one)->vf.empty() && (pf.empty() || pf == (*one)->pf);
    pf = (*one)->pf;
    found.emplace_back(number_of((*one)->vf), netdev);
  }
  if (!clear) return {};
  std::ranges::sort(found);
  std::vector<std::string> out;
  for (auto& [vf, netdev] : found) out.push_back(std::move(netdev));
  return out;
}

}  // namespace

PortNetdevs port_netdevs(const Host& host, const std::string& device, std::string_view driver, DeviceNetlink* netlink,
                         const std::function<void(const Error&)>& failed) {
  PortNetdevs out;
  std::vector<std::string> unknown;
  const auto ports = port_numbers(host, device).value_or(std::vector<std::string>());
  for (const std::string& port : ports) {
    std::string netdev = netdev_of(host, device, port, failed);
    if (netdev.empty()) {
      unknown.push_back(port);
    } else {
      out.names.emplace(port, std::move(netdev));
    }
  }
  if (driver != "mlx5_core" || ports.size() < 2) return out;
  if (netlink) {
    for (const std::string& port : unknown) {
      ++out.asked;
      const auto told = netlink->port(port_number(port));
      if (told && told->netdev) out.names.emplace(port, *told->netdev);
    }
    return out;
  }
  const std::vector<std::string> netdevs = representors(host, device, out.names, failed);
  if (netdevs.size() != unknown.size()) return out;
  for (std::size_t i = 0; i < unknown.size(); ++i) out.names.emplace(unknown[i], netdevs[i]);
  return out;
}

}  // namespace qpscope
