// SPDX-License-Identifier: Apache-2.0
// Who is here: driver, firmware, board, place on the PCI bus, and which VF of which PF.
#include <algorithm>
#include <array>

#include "collectors/counter_folder.h"
#include "collectors/driver.h"
#include "collectors/registry.h"
#include "core/text.h"

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
    const bool pci = host_.root.exists(path_ + "/device/vendor");
    std::string address;
    if (const auto real = host_.root.real_path(path_ + "/device"); pci && real) address = real->substr(real->rfind('/') + 1);
    if (address.find(':') == std::string::npos) address = pci_slot();
    out.add(kInfo, {device_, driver_of(host_, device_), text("fw_ver"), text("board_id"), text("node_guid"), address, text("device/numa_node"),
                    function(pci)}, 1);
    if (host_.root.exists(path_ + "/device/physfn")) add_vf(out, address);
    return {};
  }

 private:
  // Empty where the file is missing: which facts a device has depends on its driver.
  std::string text(const std::string& name) const {
    const auto read = host_.root.read_text(path_ + "/" + name);
    return read ? std::string(trim(*read)) : std::string();
  }

  // PCI_SLOT_NAME of the uevent file: the same address without following links.
  std::string pci_slot() const {
    const std::string uevent = text("device/uevent");
    constexpr std::string_view kKey = "PCI_SLOT_NAME=";
    const auto at = uevent.find(kKey);
    return at == std::string::npos ? std::string() : uevent.substr(at + kKey.size(), uevent.find('\n', at) - at - kKey.size());
  }

  std::string function(bool pci) const {
    if (host_.root.exists(path_ + "/device/physfn") || mellanox_vf()) return "vf";
    if (pci) return "pf";
    // A scalable function is an auxiliary device (mlx5_core.sf.4) that names its number.
    return host_.root.exists(path_ + "/device/sfnum") ? "sf" : "none";
  }

  // In a virtual machine the PF is out of sight, but its VFs have PCI ids of their own (pci.ids, vendor 15b3).
  bool mellanox_vf() const {
    constexpr std::array<std::string_view, 9> ids{"0x1002", "0x1004", "0x1012", "0x1014", "0x1016", "0x1018", "0x101a", "0x101c", "0x101e"};
    return text("device/vendor") == "0x15b3" && std::ranges::find(ids, text("device/device")) != ids.end();
  }

  void add_vf(Reading& out, const std::string& address) const {
    const std::string pf = path_ + "/device/physfn";
    const auto entries = host_.root.list(pf);
    if (!entries) return;
    const auto devices = host_.root.list(pf + "/infiniband");
    for (const std::string& entry : *entries) {
      if (!entry.starts_with("virtfn") || host_.root.link_name(pf + "/" + entry).value_or("") != address) continue;
      out.add(kVf, {device_, devices && !devices->empty() ? devices->front() : std::string(), entry.substr(6)}, 1);
    }
  }

  const Host& host_;
  const std::string device_, path_;
};

}  // namespace

const CollectorRow kDeviceInfo{"device_info", Clock::slow, kMetrics,
                               [](const Host& host, const std::string& device) -> std::unique_ptr<Collector> { return std::make_unique<DeviceInfo>(host, device); }};

}  // namespace qpscope
