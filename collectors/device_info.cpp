// SPDX-License-Identifier: Apache-2.0
// Who is here: driver, firmware, board, place on the PCI bus, and which VF of which PF.
#include <array>

#include "collectors/counter_folder.h"
#include "collectors/driver.h"
#include "collectors/fact.h"
#include "collectors/physical_port.h"
#include "collectors/registry.h"

namespace qpscope {
namespace {

constexpr MetricDef kInfo{"qpscope_device_info", MetricType::gauge,
                          "An RDMA device; function is pf, vf, sf or none (sysfs class/infiniband, PCI device and driver links).",
                          LabelNames{"device", "driver", "fw_ver", "board_id", "node_guid", "pci_addr", "numa_node", "function"}};
constexpr MetricDef kVf{"qpscope_device_vf_info", MetricType::gauge,
                        "Which virtual function of which device this is (sysfs physfn and virtfnN links).", LabelNames{"device", "pf", "vf"}};
constexpr std::array<const MetricDef*, 2> kMetrics{&kInfo, &kVf};

class DeviceInfo : public Collector {
 public:
  DeviceInfo(const Host& host, const std::string& device) : host_(host), device_(device), path_(device_path(device)) {}

  Result<> collect(Reading& out) override {
    if (!host_.root.exists(path_)) return fail(ErrorCode::not_found, "device " + device_ + " is gone");
    auto driver = driver_of(host_, device_);
    if (!driver) out.failed("device", driver.error());
    const bool pci = host_.root.exists(path_ + "/device/vendor");
    std::string address;
    if (const auto real = host_.root.real_path(path_ + "/device"); pci && real) address = real->substr(real->rfind('/') + 1);
    if (address.find(':') == std::string::npos) address = pci_slot(out);
    out.add(kInfo, {device_, driver.value_or(""), text("fw_ver", out), text("board_id", out), text("node_guid", out), address,
                    text("device/numa_node", out), function(pci, out)}, 1);
    if (host_.root.exists(path_ + "/device/physfn")) add_vf(out, address);
    return {};
  }

 private:
  std::string text(const std::string& name, Reading& out) const { return read_fact(host_, path_ + "/" + name, "device", out); }

  // PCI_SLOT_NAME of the uevent file: the same address without following links.
  std::string pci_slot(Reading& out) const {
    const std::string uevent = text("device/uevent", out);
    constexpr std::string_view kKey = "PCI_SLOT_NAME=";
    const auto at = uevent.find(kKey);
    return at == std::string::npos ? std::string() : uevent.substr(at + kKey.size(), uevent.find('\n', at) - at - kKey.size());
  }

  std::string function(bool pci, Reading& out) const {
    if (host_.root.exists(path_ + "/device/physfn") || is_virtual_function(text("device/vendor", out), text("device/device", out))) return "vf";
    if (pci) return "pf";
    // A scalable function is an auxiliary device (mlx5_core.sf.4) that names its number.
    return host_.root.exists(path_ + "/device/sfnum") ? "sf" : "none";
  }

  void add_vf(Reading& out, const std::string& address) {
    const std::string pf = path_ + "/device/physfn";
    // A physical function has hundreds of these links, and as many virtual ones that look: the one that was right is looked at first.
    if (vf_.empty() || host_.root.link_name(pf + "/" + vf_).value_or("") != address) vf_ = find_vf(out, pf, address);
    if (vf_.empty()) return;
    const auto devices = host_.root.list(pf + "/infiniband");
    if (!devices && !absent(devices.error())) out.failed("device", devices.error());
    out.add(kVf, {device_, devices && !devices->empty() ? devices->front() : std::string(), vf_.substr(kLink.size())}, 1);
  }

  // "": there is none.
  std::string find_vf(Reading& out, const std::string& pf, const std::string& address) const {
    const auto entries = host_.root.list(pf);
    if (!entries && !absent(entries.error())) out.failed("device", entries.error());
    for (const std::string& entry : entries.value_or(std::vector<std::string>())) {
      if (!entry.starts_with(kLink)) continue;
      const auto function = host_.root.link_name(pf + "/" + entry);
      if (!function && !absent(function.error())) out.failed("device", function.error());
      if (function && *function == address) return entry;
    }
    return {};
  }

  static constexpr std::string_view kLink = "virtfn";  // and its number
  const Host& host_;
  const std::string device_, path_;
  std::string vf_;  // the link of the physical function that points here; "": not known
};

}  // namespace

const CollectorRow kDeviceInfo{"device_info", Clock::slow, kMetrics,
                               [](const Host& host, const std::string& device) -> std::unique_ptr<Collector> { return std::make_unique<DeviceInfo>(host, device); }};

}  // namespace qpscope
