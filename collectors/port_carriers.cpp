// SPDX-License-Identifier: Apache-2.0
#include "collectors/port_carriers.h"

#include <algorithm>
#include <string_view>

#include "collectors/counter_folder.h"
#include "collectors/driver.h"
#include "collectors/physical_port.h"
#include "core/text.h"

namespace qpscope {
namespace {

constexpr unsigned kMostLevels = 4;        // VLAN over bond over a NIC are three
constexpr std::size_t kMostLowest = 16;    // netdevs of a port
constexpr std::size_t kLongestName = 15;   // IFNAMSIZ - 1

std::string folder(const std::string& netdev) { return "/sys/class/net/" + netdev; }

// As net/core/dev.c dev_valid_name has it: a name comes from a file and becomes part of a path.
bool is_name(std::string_view netdev) {
  return !netdev.empty() && netdev.size() <= kLongestName && netdev != "." && netdev != ".." && netdev.find_first_of("/: \t\n") == std::string_view::npos;
}

bool contains(const std::vector<std::string>& names, const std::string& name) { return std::ranges::find(names, name) != names.end(); }

std::string text_of(const Sysroot& root, const std::string& path) {
  const auto text = root.read_text(path);
  return text ? std::string(trim(*text)) : std::string();
}

class Lowest {
 public:
  Lowest(const Sysroot& root, const std::string& device) : root_(root), device_(device), own_(root.link_name(device_path(device) + "/device").value_or("")) {}

  std::vector<std::string> of(const std::string& top) {
    descend(top, 0);
    std::erase_if(found_, [&](const std::string& netdev) { return !is_ours(netdev, netdev != top); });
    return std::move(found_);
  }

 private:
  void descend(const std::string& netdev, unsigned level) {
    if (found_.size() == kMostLowest || contains(found_, netdev)) return;
    // One with a device of its own has statistics of its own, whatever may be below it.
    const auto below = level < kMostLevels && !root_.exists(folder(netdev) + "/device") ? lower(netdev) : std::vector<std::string>();
    if (below.empty()) found_.push_back(netdev);
    for (const std::string& one : below) descend(one, level + 1);
  }

  // Links lower_NETDEV (net/core/dev.c netdev_adjacent_sysfs_add); of a bond also a list.
  std::vector<std::string> lower(const std::string& netdev) const {
    constexpr std::string_view kPrefix = "lower_";
    std::vector<std::string> out;
    for (const std::string& entry : root_.list(folder(netdev)).value_or(std::vector<std::string>())) {
      if (entry.starts_with(kPrefix)) out.push_back(entry.substr(kPrefix.size()));
    }
    if (out.empty()) {
      const std::string members = text_of(root_, folder(netdev) + "/bonding/slaves");
      for (std::size_t at = 0; at < members.size();) {
        const std::size_t end = std::min(members.find(' ', at), members.size());
        if (end > at) out.push_back(members.substr(at, end - at));
        at = end + 1;
      }
    }
    std::erase_if(out, [](const std::string& one) { return !is_name(one); });
    return out;
  }

  bool is_ours(const std::string& netdev, bool below) const {
    const std::string parent = folder(netdev) + "/device";
    const auto theirs = root_.link_name(parent);
    // Of a RoCE LAG one member is on another function of the card.
    const auto card = [](std::string_view function) { return function.substr(0, function.rfind('.')); };
    if (theirs && !own_.empty() && *theirs != own_ && !(below && card(*theirs) == card(own_))) return false;
    auto owners = root_.list(parent + "/infiniband").value_or(std::vector<std::string>());
    std::erase_if(owners, [&](const std::string& one) { return root_.exists(device_path(one) + "/parent"); });  // rxe over it owns nothing
    return owners.empty() || contains(owners, device_);
  }

  const Sysroot& root_;
  const std::string& device_;
  const std::string own_;  // what the device hangs on; "" of software
  std::vector<std::string> found_;
};

// The netdev of the function that has the port's number and is no child of another (an IPoIB partition), if there is exactly one: beside
// representors nobody can tell.
std::string by_dev_port(const Sysroot& root, const std::string& device, const std::string& port) {
  std::string found;
  for (const std::string& netdev : root.list(device_path(device) + "/device/net").value_or(std::vector<std::string>())) {
    const auto read = [&](const char* file) { return root.read_u64(folder(netdev) + "/" + file); };
    const auto number = read("dev_port"), index = read("ifindex"), link = read("iflink");
    if (!is_name(netdev) || !number || *number + 1 != port_number(port).value || (index && link && *index != *link)) continue;
    if (!found.empty()) return {};
    found = netdev;
  }
  return found;
}

}  // namespace

PortCarriers carriers_of_port(const Host& host, const std::string& device, const std::string& port, const std::optional<std::string>& told) {
  const Sysroot& root = host.root;
  PortCarriers out;
  const auto use = [&](std::string top) {
    if (!is_name(top) || !root.exists(folder(top))) return false;
    out = {.top = std::move(top), .lowest = {}};
    out.lowest = Lowest(root, device).of(out.top);
    return true;
  };
  const bool by_gid = use(netdev_of(host, device, port, [](const Error&) {}));
  if (told) {
    if (!by_gid || !contains(out.lowest, *told)) use(*told);
  } else if (!by_gid && !use(text_of(root, device_path(device) + "/parent"))) {
    use(by_dev_port(root, device, port));
  }
  return out;
}

std::string netdev_flavour(const Host& host, const std::string& device, const std::string& netdev) {
  const std::string name = text_of(host.root, folder(netdev) + "/phys_port_name");
  const auto digits = [](std::string_view text) { return text.substr(0, text.find_first_not_of("0123456789")); };
  std::string_view rest = name;
  if (rest.starts_with('c')) rest.remove_prefix(1 + digits(rest.substr(1)).size());  // of another host's controller
  if (rest.starts_with("pf")) {
    rest.remove_prefix(2 + digits(rest.substr(2)).size());
    return rest.starts_with("vf") ? "pcivf" : rest.starts_with("sf") ? "pcisf" : "pcipf";
  }
  // A bond's member in a folder of fixtures may have no link to its function.
  const std::string linked = folder(netdev) + "/device", function = host.root.exists(linked) ? linked : device_path(device) + "/device";
  const auto is = [&](const char* file) { return host.root.exists(function + "/" + file); };
  if (is("physfn") || is("sfnum") || is_virtual_function(text_of(host.root, function + "/vendor"), text_of(host.root, function + "/device"))) return "virtual";
  return rest.starts_with('p') || is("vendor") ? "physical" : "";
}

bool is_representor(std::string_view flavour) { return flavour.starts_with("pci"); }
bool tells_of_physical_port(std::string_view flavour) { return !is_representor(flavour) && flavour != "virtual"; }

}  // namespace qpscope
