// SPDX-License-Identifier: Apache-2.0
// Is the link up: read on the fast clock. One query of the port by netlink, two by sysfs.
#include <array>

#include "collectors/counter_folder.h"
#include "collectors/driver.h"
#include "collectors/netlink_first.h"
#include "collectors/registry.h"
#include "core/text.h"

namespace qpscope {
namespace {

constexpr LabelNames kPort{"device", "port"};
constexpr MetricDef kState{"qpscope_port_state", MetricType::gauge,
                           "Logical state: 0 NOP, 1 DOWN, 2 INIT, 3 ARMED, 4 ACTIVE, 5 ACTIVE_DEFER (RDMA netlink PORT_GET, else sysfs ports/N/state).", kPort};
constexpr MetricDef kPhysical{
    "qpscope_port_physical_state", MetricType::gauge,
    "Physical state: 1 Sleep, 2 Polling, 3 Disabled, 4 PortConfigurationTraining, 5 LinkUp, 6 LinkErrorRecovery, 7 Phy Test (RDMA "
    "netlink PORT_GET, else sysfs ports/N/phys_state).",
    kPort};
constexpr std::array<const MetricDef*, 2> kMetrics{&kState, &kPhysical};

class PortState : public Collector {
 public:
  PortState(const Host& host, const std::string& device) : device_(device), query_(firmware_cost(driver_of(host, device)).port_query) {
    if (host.netlink) netlink_ = host.netlink(device);
    for (const std::string& number : port_numbers(host, device)) {
      Port& port = ports_.emplace_back(number, NetlinkFirst(netlink_ != nullptr));
      const std::string path = device_path(device) + "/ports/" + number;
      for (const auto& [def, name] : {std::pair(&kState, "/state"), std::pair(&kPhysical, "/phys_state")}) {
        if (host.root.exists(path + name)) port.files.emplace_back(def, PolledFile(host.root, path + name));
      }
    }
  }

  Result<> collect(Reading& out) override {
    for (Port& port : ports_) {
      if (const auto told = port.way.ask(out, "port", query_, [&] { return netlink_->port(port_number(port.number)); })) {
        out.add(kState, {device_, port.number}, told->state);
        out.add(kPhysical, {device_, port.number}, told->phys_state);
      } else if (port.way.files()) {
        read_files(port, out);
      }
    }
    return {};
  }

 private:
  struct Port {
    std::string number;
    NetlinkFirst way;
    std::vector<std::pair<const MetricDef*, PolledFile>> files = {};
  };

  void read_files(Port& port, Reading& out) {
    std::array<char, 64> buffer;
    for (auto& [def, file] : port.files) {
      const auto text = file.read(buffer, out, "port", query_);
      if (!text) continue;
      // "4: ACTIVE": the number is the kernel's, the word for people.
      const auto number = parse_u64(text->substr(0, text->find(':')), file.path());
      if (number) {
        out.add(*def, {device_, port.number}, static_cast<double>(*number));
      } else {
        out.failed("port", number.error());
      }
    }
  }

  const std::string device_;
  const unsigned query_;  // what one asks of the firmware
  std::unique_ptr<DeviceNetlink> netlink_;
  std::vector<Port> ports_;
};

}  // namespace

const CollectorRow kPortState{"port_state", Clock::fast, kMetrics,
                              [](const Host& host, const std::string& device) -> std::unique_ptr<Collector> { return std::make_unique<PortState>(host, device); }};

}  // namespace qpscope
