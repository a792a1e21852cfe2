// SPDX-License-Identifier: Apache-2.0
// Is the link up, and how often was it not: read on the fast clock. One query of the port by netlink, two by sysfs.
#include <array>
#include <optional>

#include "collectors/carrier.h"
#include "collectors/counter_folder.h"
#include "collectors/driver.h"
#include "collectors/link_downs.h"
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
constexpr MetricDef kDowns{"qpscope_port_link_downs_total", MetricType::counter,
                           "Times the link went down, as seen in its state or counted by the hardware, whichever is more: a flap between two samples counts too "
                           "(sysfs ports/N/state; class/net/NETDEV/carrier_down_count, or on InfiniBand counters/link_downed).", kPort};
constexpr std::array<const MetricDef*, 3> kMetrics{&kState, &kPhysical, &kDowns};
constexpr std::uint64_t kActive = 4, kActiveDefer = 5;

class PortState : public Collector {
 public:
  PortState(const Host& host, const std::string& device)
      : device_(device), query_(firmware_cost(driver_of(host, device).value_or("")).port_query) {
    if (host.netlink) netlink_ = host.netlink(device);
    for (const std::string& number : port_numbers(host, device).value_or(std::vector<std::string>())) {
      const std::string path = device_path(device) + "/ports/" + number;
      Port& port = ports_.emplace_back(number, netlink_ != nullptr);
      if (host.root.exists(path + "/state")) port.state.emplace(host.root, path + "/state");
      if (host.root.exists(path + "/phys_state")) port.physical.emplace(host.root, path + "/phys_state");
      const auto layer = host.root.read_text(path + "/link_layer");
      port.infiniband = layer && trim(*layer) == "InfiniBand";
      if (layer && trim(*layer) == "Ethernet") port.carrier.emplace(host, device, number);
    }
  }

  Result<> collect(Reading& out) override {
    for (Port& port : ports_) {
      std::optional<std::uint64_t> state;
      if (const auto told = port.way.ask(out, "port", query_, [&] { return netlink_->port(port_number(port.number)); })) {
        state = told->state;
        out.add(kState, {device_, port.number}, told->state);
        out.add(kPhysical, {device_, port.number}, told->phys_state);
      } else if (port.way.files()) {
        if (port.state) state = read(out, kState, port.number, *port.state);
        if (port.physical) read(out, kPhysical, port.number, *port.physical);
      }
      if (state) port.downs.saw(out, *state == kActive || *state == kActiveDefer);
      hear(out, port);
      if (const auto downs = port.downs.total(out)) out.add(kDowns, {device_, port.number}, *downs);
    }
    return {};
  }

 private:
  struct Port {
    Port(const std::string& name, bool netlink) : number(name), way(netlink), downs(name) {}
    std::string number;
    NetlinkFirst way;
    LinkDowns downs;
    std::optional<PolledFile> state, physical;  // where the driver has them
    bool infiniband = false;
    std::optional<Carrier> carrier;  // on Ethernet
    BootTime told_at;                // when link_downed was read last
  };

  // "4: ACTIVE": the number is the kernel's, the word for people.
  std::optional<std::uint64_t> read(Reading& out, const MetricDef& def, const std::string& port, PolledFile& file) const {
    std::array<char, 64> buffer;
    const auto text = file.read(buffer, out, "port", query_);
    if (!text) return std::nullopt;
    const auto number = parse_u64(text->substr(0, text->find(':')), file.path());
    if (!number) return out.failed("port", number.error()), std::nullopt;
    out.add(def, {device_, port}, static_cast<double>(*number));
    return *number;
  }

  // The hardware source of link downs, where it was read since the last pass. link_downed is a question to the firmware, which
  // port_errors asks on the slow clock.
  static void hear(Reading& out, Port& port) {
    if (port.carrier) {
      if (const auto count = port.carrier->count(out)) port.downs.told(out, port.carrier->netdev(), static_cast<std::uint64_t>(*count));
    } else if (port.infiniband) {
      const auto last = out.ledger.last({port.number, "counters", "link_downed"});
      if (!last || last->at == port.told_at) return;
      port.told_at = last->at;
      port.downs.told(out, "link_downed", static_cast<std::uint64_t>(last->total));
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
