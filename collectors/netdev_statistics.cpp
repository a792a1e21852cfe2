// SPDX-License-Identifier: Apache-2.0
// What the netdevs of a port tell (ethtool -S, DCB): PFC and pause, discards, the physical layer, PCIe. A pass over an mlx5 netdev is some 40
// firmware commands, all under the kernel's lock of all netdevs: slow clock, slower still where it takes long.
//
// A port may have several netdevs (RoCE LAG). The families are then the sum over them, so that dashboards join one series a port
// whatever carries it, and only there each netdev's own counts stand beside them by their kernel names, which tell the bad cable. The sum is
// ours: a member that leaves keeps its part in it. In a pass in which a member cannot be read there is no sum.
#include <array>
#include <map>
#include <optional>
#include <set>

#include "collectors/counter_folder.h"
#include "collectors/driver.h"
#include "collectors/fact.h"
#include "collectors/host/rtnl_gate.h"
#include "collectors/port_carriers.h"
#include "collectors/registry.h"
#include "collectors/vocabulary/netdev_statistics.h"

namespace qpscope {
namespace {

constexpr MetricDef kInfo{"qpscope_port_netdev_info", MetricType::gauge,
                          "A netdev that carries the port; upper is the bond or VLAN over it that the port names, flavour as devlink has it: "
                          "physical, virtual, or pcivf, pcisf, pcipf of a representor (RDMA netlink PORT_GET, sysfs gid_attrs/ndevs, class/net; ethtool -i).",
                          LabelNames{"device", "port", "netdev", "upper", "driver", "flavour"}};
constexpr MetricDef kMember{"qpscope_port_netdev_statistics_total", MetricType::counter,
                            "A statistic of one of several netdevs that carry the port, by its kernel name and in its unit; of those whose sum is "
                            "in the port families (ethtool -S).",
                            LabelNames{"device", "port", "netdev", "statistic"}};
constexpr MetricDef kPfcEnabled{"qpscope_port_pfc_enabled", MetricType::gauge,
                                "Whether priority flow control is on for the priority, on every netdev of the port (DCB IEEE_GET pfc_en).",
                                LabelNames{"device", "port", "priority"}};
constexpr std::array<const MetricDef*, 3> kMetrics{&kInfo, &kMember, &kPfcEnabled};

constexpr double kSlowSeconds = 0.1;    // a pass that takes longer is slow: …
constexpr double kRestForSecond = 100;  // … others have the lock for 99 % of the time
constexpr double kLongestRest = 600;

// The families of one port in one pass, each the sum over its netdevs; the PCIe ones have no port.
class Families {
 public:
  Families(const std::string& device, const std::string& port) : device_(device), port_(port) {}

  void level(const NetdevMatch& match, std::uint64_t raw) { levels_[match.meaning->family] = static_cast<double>(raw) / match.meaning->per_unit; }
  void grew(const MetricDef& family, const std::string& label, double events, double per_unit, bool every_priority) {
    Sum& sum = sums_[{&family, label}];
    sum.events += events;
    sum.per_unit = per_unit;
    sum.every_priority = every_priority;
  }

  // `in_use`: of the priorities that a driver lists anyway. `whole`: every netdev was read; else totals grow and are not shown.
  void add_to(Reading& out, std::uint8_t in_use, bool whole) {
    std::set<std::string> counted;  // priorities
    for (auto& [key, sum] : sums_) {
      const auto& [family, label] = key;
      sum.total = out.add_events({port_, "ethtool/" + std::string(family->name) + "/" + label}, static_cast<std::uint64_t>(sum.events));
      if (sum.every_priority && sum.total.value_or(0) > 0) counted.insert(label);
    }
    if (!whole) return;
    for (std::size_t priority = 0; priority < kPriorities; ++priority) {
      if (in_use >> priority & 1) counted.insert(std::to_string(priority));
    }
    for (const auto& [key, sum] : sums_) {
      const auto& [family, label] = key;
      if (sum.total && (!sum.every_priority || counted.contains(label))) out.add(*family, labels(label), *sum.total / sum.per_unit);
    }
    for (const auto& [family, value] : levels_) out.add(*family, labels({}), value);
  }

 private:
  struct Sum {
    double events = 0;  // since the last pass
    double per_unit = 1;
    bool every_priority = false;
    std::optional<double> total;
  };
  std::vector<std::string> labels(const std::string& label) const {
    std::vector<std::string> out{device_};
    if (!port_.empty()) out.push_back(port_);
    if (!label.empty()) out.push_back(label);
    return out;
  }

  const std::string &device_, &port_;
  std::map<std::pair<const MetricDef*, std::string>, Sum> sums_;
  std::map<const MetricDef*, double> levels_;
};

class NetdevStatisticsCollector : public Collector {
 public:
  NetdevStatisticsCollector(const Host& host, const std::string& device)
      : host_(host), device_(device), driver_(driver_of(host, device).value_or("")), cost_(firmware_cost(driver_)) {
    if (host.netlink) netlink_ = host.netlink(device);
    if (host.ethtool) ethtool_ = host.ethtool();
    if (host.dcb) dcb_ = host.dcb();
  }

  Result<> collect(Reading& out) override {
    const auto numbers = port_numbers(host_, device_);
    if (!numbers) return {};  // port_info counts it
    std::vector<Port> ports;
    for (const std::string& number : *numbers) ports.push_back({number, carriers_of_port(host_, device_, number, told(out, number))});
    forget_all_but(ports);
    const std::string pci = of_own_function(ports);
    const std::string no_port;
    Families device(device_, no_port);
    busy_ = 0;
    bool pci_read = true;
    for (const Port& port : ports) {
      Families families(device_, port.number);
      Pfc pfc;
      bool whole = true;
      for (const std::string& netdev : port.netdevs.lowest) {
        const bool read = visit(out, port, netdev, families, netdev == pci ? &device : nullptr, pfc);
        whole &= read;
        if (netdev == pci) pci_read = read;
      }
      families.add_to(out, pfc.anywhere, whole);
      if (whole && pfc.known) add_pfc(out, port.number, pfc.everywhere);
    }
    device.add_to(out, 0, pci_read);
    if (busy_ > kSlowSeconds) out.rest = std::min(busy_ * kRestForSecond, kLongestRest);
    return {};
  }

 private:
  struct Port {
    std::string number;
    PortCarriers netdevs;
  };
  struct Pfc {
    bool known = false;
    std::uint8_t anywhere = 0, everywhere = 0xff;  // on one netdev of the port at least, on all of them
  };
  struct Wanted {
    std::size_t index;
    NetdevMatch match;
    std::string name, key;  // by which the ledger knows it
  };
  // What is known of a netdev from one pass to the next.
  struct Netdev {
    std::uint64_t ifindex = 0;
    bool described = false;
    std::string driver, flavour;
    std::span<const NetdevMeaning> table;
    std::string names;           // for which `wanted` was made
    std::vector<Wanted> wanted;
    bool statistics = true, dcb = true;  // false: it has none
    BackOff back_off;
    std::optional<Error> error;  // of the last try
  };

  std::optional<std::string> told(Reading& out, const std::string& port) {
    if (!netlink_) return std::nullopt;
    out.firmware_commands += cost_.port_query;
    // port_state asks the same every second, and counts what fails.
    const auto answer = netlink_->port(port_number(port));
    return answer ? answer->netdev : std::nullopt;
  }

  void forget_all_but(const std::vector<Port>& ports) {
    std::erase_if(netdevs_, [&](const auto& known) {
      return std::ranges::none_of(ports, [&](const Port& port) { return std::ranges::find(port.netdevs.lowest, known.first) != port.netdevs.lowest.end(); });
    });
  }

  // The netdev whose PCIe statistics are the device's: of a RoCE LAG, and of a function with two ports, one alone.
  std::string of_own_function(const std::vector<Port>& ports) const {
    const auto mine = host_.root.link_name(device_path(device_) + "/device");
    std::string first;
    for (const Port& port : ports) {
      for (const std::string& netdev : port.netdevs.lowest) {
        if (first.empty()) first = netdev;
        const auto theirs = host_.root.link_name("/sys/class/net/" + netdev + "/device");
        if (mine && theirs && *mine == *theirs) return netdev;
      }
    }
    return first;
  }

  // False: it could not be read.
  bool visit(Reading& out, const Port& port, const std::string& name, Families& families, Families* device, Pfc& pfc) {
    Netdev& netdev = netdevs_[name];
    const auto ifindex = host_.root.read_u64("/sys/class/net/" + name + "/ifindex").value_or(0);
    if (ifindex != netdev.ifindex) netdev = {.ifindex = ifindex};  // another one under this name
    if (netdev.described) add_info(out, port, name, netdev);
    if (netdev.described && is_representor(netdev.flavour)) return true;
    if (!netdev.back_off.due(out.now())) return out.not_tried(*netdev.error), false;
    const BootTime asked = out.now();
    const auto pass = rtnl_gate().enter(name);
    const BootTime began = out.now();
    out.waited += seconds(began, asked);
    if (!pass) return out.failed("ethtool", pass.error()), false;
    const bool read = ask(out, port, name, netdev, families, device, pfc);
    busy_ += seconds(out.now(), began);
    return read;
  }

  bool ask(Reading& out, const Port& port, const std::string& name, Netdev& netdev, Families& families, Families* device, Pfc& pfc) {
    if (!netdev.described) {
      describe(name, netdev);
      add_info(out, port, name, netdev);
      if (is_representor(netdev.flavour)) return true;
    }
    if (port.netdevs.top != name) {
      out.notes.push_back("port " + port.number + ": " + port.netdevs.top + " has no statistics of its own: those of the netdevs below it stand for the port");
    }
    const auto state = tells_of_physical_port(netdev.flavour) ? ask_pfc(out, name, netdev) : std::nullopt;
    if (state) {
      pfc.known = true;
      pfc.anywhere |= state->enabled;
      pfc.everywhere &= state->enabled;
      if (netdev.table.empty()) count_pfc_frames(out, port.number, name, *state, families);
    }
    if (!ethtool_ || !netdev.statistics || netdev.table.empty()) return true;
    out.firmware_commands += cost_.ethtool;
    auto read = ethtool_->statistics(name);
    if (!read && read.error().code == ErrorCode::unsupported) {
      netdev.statistics = false;
      out.notes.push_back(name + " has no statistics (ethtool -S)");
      return true;
    }
    if (!read) {
      if (!absent(read.error())) {  // a folder of fixtures may have no text of it
        out.failed("ethtool", read.error());
        netdev.error = read.error();
        netdev.back_off.failed(out.now());
      }
      return false;
    }
    netdev.back_off.succeeded();
    if (read->names != netdev.names) match(name, netdev, std::move(read->names));
    for (const Wanted& one : netdev.wanted) count(out, port, name, one, read->values[one.index], families, device);
    return true;
  }

  void describe(const std::string& name, Netdev& netdev) {
    auto driver = ethtool_ ? ethtool_->driver(name) : fail(ErrorCode::unsupported, "");
    if (!driver) driver = host_.root.link_name("/sys/class/net/" + name + "/device/driver");
    netdev.driver = driver ? *driver : has_firmware(driver_) ? driver_ : "";
    netdev.flavour = netdev_flavour(host_, device_, name);
    netdev.table = netdev_table(netdev.driver);
    netdev.described = true;
  }

  void add_info(Reading& out, const Port& port, const std::string& name, const Netdev& netdev) const {
    out.add(kInfo, {device_, port.number, name, port.netdevs.top == name ? "" : port.netdevs.top, netdev.driver, netdev.flavour}, 1);
  }

  std::optional<PfcState> ask_pfc(Reading& out, const std::string& name, Netdev& netdev) {
    if (!dcb_ || !netdev.dcb) return std::nullopt;
    out.firmware_commands += cost_.pfc;
    const auto state = dcb_->pfc(name);
    if (state) return *state;
    if (state.error().code == ErrorCode::unsupported) {
      netdev.dcb = false;
    } else {
      out.failed("dcb", state.error());
    }
    return std::nullopt;
  }

  // Only what counts: nobody can tell a driver that leaves them 0 from one that has none.
  void count_pfc_frames(Reading& out, const std::string& port, const std::string& name, const PfcState& state, Families& families) {
    for (const bool sent : {true, false}) {
      for (std::size_t priority = 0; priority < kPriorities; ++priority) {
        const std::string label = std::to_string(priority);
        const auto grown = growth(out, {port, "dcb", name + (sent ? "/requests/" : "/indications/") + label}, (sent ? state.sent : state.received)[priority]);
        if (grown && grown->total > 0) families.grew(pfc_frames_family(sent), label, grown->events, 1, true);
      }
    }
  }

  void match(const std::string& name, Netdev& netdev, std::string names) {
    netdev.names = std::move(names);
    netdev.wanted.clear();
    const NetdevStatistics view{.names = netdev.names, .values = {}};
    for (std::size_t i = 0; i * kStatisticName < view.names.size(); ++i) {
      const auto found = match_statistic(netdev.table, view.name(i));
      if (!found || (found->meaning->scope == NetdevScope::physical_port && !tells_of_physical_port(netdev.flavour))) continue;
      const std::string statistic(view.name(i));
      netdev.wanted.push_back({i, *found, statistic, name + "/" + statistic});
    }
  }

  void count(Reading& out, const Port& port, const std::string& name, const Wanted& one, std::uint64_t raw, Families& families, Families* device) {
    const NetdevMeaning& meaning = *one.match.meaning;
    const bool of_device = meaning.scope == NetdevScope::pci_function;
    if (of_device && !device) return;
    Families& into = of_device ? *device : families;
    if (meaning.family->type == MetricType::gauge) return into.level(one.match, raw);
    const auto grown = growth(out, {of_device ? std::string() : port.number, "ethtool", one.key}, raw);
    if (!grown) return;
    into.grew(*meaning.family, one.match.label(), grown->events, meaning.per_unit, meaning.every_priority);
    const bool news = !meaning.every_priority || grown->total > 0;
    if (!of_device && news && port.netdevs.lowest.size() > 1) out.add(kMember, {device_, port.number, name, one.name}, grown->total);
  }

  struct Growth {
    double total, events;  // events since the last pass; at first all of them
  };
  // Our total of it. A name that goes and comes back, as PFC is moved to another priority, goes on where it was: the card counts on.
  static std::optional<Growth> growth(Reading& out, const CounterKey& key, std::uint64_t raw) {
    const auto before = out.ledger.last(key.view());
    const auto counted = out.count(key.view(), raw, kWide);
    if (!counted) return std::nullopt;
    return Growth{.total = counted->total, .events = counted->total - (before ? before->total : 0)};
  }

  void add_pfc(Reading& out, const std::string& port, std::uint8_t enabled) const {
    for (std::size_t priority = 0; priority < kPriorities; ++priority) out.add(kPfcEnabled, {device_, port, std::to_string(priority)}, enabled >> priority & 1);
  }

  const Host& host_;
  const std::string device_, driver_;
  const FirmwareCost cost_;
  std::unique_ptr<DeviceNetlink> netlink_;
  std::unique_ptr<Ethtool> ethtool_;
  std::unique_ptr<Dcb> dcb_;
  std::map<std::string, Netdev> netdevs_;
  double busy_ = 0;  // seconds of this pass in which the kernel was asked
};

}  // namespace

const CollectorRow kNetdevStatistics{
    "netdev_statistics", Clock::slow, kMetrics,
    [](const Host& host, const std::string& device) -> std::unique_ptr<Collector> { return std::make_unique<NetdevStatisticsCollector>(host, device); }};

}  // namespace qpscope
