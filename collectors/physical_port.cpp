// SPDX-License-Identifier: Apache-2.0
#include "collectors/physical_port.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <set>
#include <string_view>

#include "collectors/counter_folder.h"
#include "collectors/driver.h"
#include "core/text.h"

namespace qpscope {
namespace {

constexpr const char* kBus = "/sys/bus/pci/devices/";

// "0000:5e:00.1"
bool is_pci_address(std::string_view name) {
  const auto dot = name.rfind('.');
  return std::ranges::count(name, ':') == 2 && dot != std::string_view::npos && name.find_first_not_of("0123456789abcdef:.") == std::string_view::npos;
}

// The last PCI function on a path: of a scalable function (…/0000:5e:00.0/mlx5_core.sf.4) the one that it was cut out of.
std::string function_on(const std::string& path) {
  std::string out;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (const std::string part = path.substr(at, end - at); is_pci_address(part)) out = part;
    at = end + 1;
  }
  return out;
}

std::vector<PortNum> ports_of(const Sysroot& root, const std::string& device) {
  std::vector<PortNum> out;
  for (const std::string& name : root.list(device_path(device) + "/ports").value_or(std::vector<std::string>())) {
    PortNum port;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), port.value);
    if (error == std::errc() && end == name.data() + name.size()) out.push_back(port);
  }
  return out;
}

class Card {
 public:
  Card(const Sysroot& root, const std::vector<DeviceDriver>& devices) : root_(root) {
    for (const DeviceDriver& one : devices) place(one);
  }

  std::shared_ptr<const PhysicalPort> port(const DeviceDriver& one, PortNum number) {
    const auto place = places_.find(one.device);
    if (place == places_.end()) return std::make_shared<const PhysicalPort>(PhysicalPort{.ports = {{one.device, number}}, .stranger = {}});
    const bool mlx5 = one.driver == "mlx5_core";
    auto& known = looked_at_[{place->second, mlx5 ? PortNum{} : number}];
    if (!known) known = std::make_shared<const PhysicalPort>(look(place, mlx5, number));
    return known;
  }

 private:
  using Places = std::map<std::string, std::string>;

  PhysicalPort look(Places::const_iterator place, bool mlx5, PortNum number) const {
    PhysicalPort out;
    std::vector<std::string> physical{place->second};
    if (mlx5) std::ranges::copy(neighbours(place->second), std::back_inserter(physical));
    for (const std::string& address : physical) take_function(address, mlx5, number, out);
    if (!on_.contains(place->second)) out.stranger = place->second;  // virtual functions of one that has no device
    if (in_guest_.contains(place->second)) out.stranger = "the physical function of " + place->second;
    std::ranges::sort(out.ports);
    return out;
  }

  void place(const DeviceDriver& one) {
    if (!has_firmware(one.driver)) return;  // it may name a card as its parent all the same
    const std::string parent = device_path(one.device) + "/device";
    std::string address = function_on(root_.real_path(parent).value_or(std::string()));
    if (address.empty() && root_.exists(parent + "/vendor")) address = "the function of " + one.device;  // a PCI function, wherever its folder is
    if (address.empty()) return;
    const std::string function = root_.exists(kBus + address) ? kBus + address : parent;
    on_[address].push_back(one.device);
    const auto physical = root_.link_name(function + "/physfn");
    places_[one.device] = physical ? *physical : address;
    const auto text = [&](const char* name) { return std::string(trim(root_.read_text(function + "/" + name).value_or(std::string()))); };
    if (!physical && is_virtual_function(text("vendor"), text("device"))) in_guest_.insert(address);
  }

  // Physical functions of the same card that have no RDMA device: in a bond that is as it should be.
  std::vector<std::string> neighbours(const std::string& address) const {
    std::vector<std::string> out;
    const std::string slot = address.substr(0, address.rfind('.') + 1);
    for (int function = 0; function < 8; ++function) {
      const std::string other = slot + std::to_string(function);
      if (other == address || on_.contains(other) || root_.exists(kBus + other + "/physfn")) continue;
      if (root_.link_name(kBus + other + "/driver").value_or("") == "mlx5_core") out.push_back(other);
    }
    return out;
  }

  void take_function(const std::string& address, bool all_ports, PortNum number, PhysicalPort& out) const {
    const auto devices = on_.find(address);
    std::vector<std::string> members = devices != on_.end() ? devices->second : std::vector<std::string>();
    for (const std::string& entry : root_.list(kBus + address).value_or(std::vector<std::string>())) {
      if (entry.starts_with("virtfn")) {
        const std::string function = root_.link_name(kBus + address + "/" + entry).value_or(entry);
        const auto own = on_.find(function);
        if (own == on_.end()) {
          out.stranger = function;
        } else {
          std::ranges::copy(own->second, std::back_inserter(members));
        }
      }
      // Scalable functions are on_ their physical function; one without a device must be looked for.
      if (entry.find(".sf.") != std::string::npos && !served(kBus + address + "/" + entry)) out.stranger = address + "/" + entry;
    }
    for (const std::string& device : members) {
      for (const PortNum port : ports_of(root_, device)) {
        if (all_ports || port == number) out.ports.emplace_back(device, port);
      }
    }
  }

  bool served(const std::string& function) const {
    const auto devices = root_.list(function + "/infiniband");
    return devices && std::ranges::any_of(*devices, [this](const std::string& name) { return places_.contains(name); });
  }

  const Sysroot& root_;
  Places places_;                                       // device → physical function
  std::map<std::string, std::vector<std::string>> on_;  // PCI function → devices on it
  std::set<std::string> in_guest_;                      // virtual functions whose physical function is out of sight
  std::map<std::pair<std::string, PortNum>, std::shared_ptr<const PhysicalPort>> looked_at_;  // by physical function; port 0: all of them
};

}  // namespace

bool is_virtual_function(std::string_view vendor, std::string_view device) {
  // pci.ids, vendor 15b3: ConnectX-3 to ConnectX-7 and BlueField.
  constexpr std::array<std::string_view, 9> ids{"0x1002", "0x1004", "0x1012", "0x1014", "0x1016", "0x1018", "0x101a", "0x101c", "0x101e"};
  return vendor == "0x15b3" && std::ranges::find(ids, device) != ids.end();
}

PhysicalPorts physical_ports(const Sysroot& root, const std::vector<DeviceDriver>& devices) {
  Card card(root, devices);
  PhysicalPorts out;
  for (const DeviceDriver& one : devices) {
    for (const PortNum port : ports_of(root, one.device)) out[{one.device, port}] = card.port(one, port);
  }
  return out;
}

}  // namespace qpscope
