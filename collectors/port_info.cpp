// SPDX-License-Identifier: Apache-2.0
// What a port is: netdev, link layer, LID, rate, MTU, GIDs.
#include <array>
#include <cerrno>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "collectors/counter_folder.h"
#include "collectors/driver.h"
#include "collectors/fact.h"
#include "collectors/host/rtnl_gate.h"
#include "collectors/port_netdevs.h"
#include "collectors/registry.h"
#include "collectors/representor.h"
#include "core/rdma.h"
#include "core/text.h"

namespace qpscope {
namespace {

constexpr LabelNames kPort{"device", "port"};
constexpr MetricDef kInfo{"qpscope_port_info", MetricType::gauge,
                          "A port of an RDMA device; lid is empty on RoCE (sysfs ports/N/link_layer, lid, gid_attrs/ndevs).",
                          LabelNames{"device", "port", "netdev", "link_layer", "lid", "plane"}};
constexpr MetricDef kGid{"qpscope_port_gid_info", MetricType::gauge, "A GID of this port: where other nodes see it as their peer (sysfs ports/N/gids).",
                         LabelNames{"device", "port", "gid"}};
constexpr MetricDef kRate{"qpscope_port_rate_bytes_per_second", MetricType::gauge, "Nominal data rate of the link (sysfs ports/N/rate).", kPort};
constexpr MetricDef kMtu{"qpscope_port_mtu_bytes", MetricType::gauge, "MTU of the port's netdev (sysfs class/net/NETDEV/mtu).", kPort};
constexpr MetricDef kRepresentor{"qpscope_port_representor_info", MetricType::gauge,
                                 "A port that stands for a virtual function in switchdev mode (sysfs class/net/NETDEV/phys_port_name).",
                                 LabelNames{"device", "port", "netdev", "pf", "vf"}};
constexpr std::array<const MetricDef*, 5> kMetrics{&kInfo, &kGid, &kRate, &kMtu, &kRepresentor};

constexpr std::size_t kMostGids = 64;  // of a port: a RoCE port has two for each address of its netdev
constexpr double kMostOfKernel = 100;  // that Linux 6.1 knows of
constexpr double kMostGigabits = 1e6;  // the fastest port there is has some thousand

class PortInfo : public Collector {
 public:
  PortInfo(const Host& host, const std::string& device)
      : host_(host), device_(device), driver_(driver_of(host, device).value_or("")), query_(firmware_cost(driver_).port_query) {
    if (host.netlink) netlink_ = host.netlink(device);
  }

  Result<> collect(Reading& out) override {
    const auto ports = port_numbers(host_, device_);
    if (!ports) {
      out.failed("port", ports.error());
      return {};
    }
    PortNetdevs netdevs = port_netdevs(host_, device_, driver_, netlink_.get(), [&](const Error& error) { out.failed("port", error); });
    out.firmware_commands += netdevs.asked * query_;
    for (const std::string& port : *ports) {
      const std::string path = device_path(device_) + "/ports/" + port;
      const std::string netdev = std::move(netdevs.names[port]);
      const std::string link_layer = read_fact(host_, path + "/link_layer", "port", out);
      out.add(kInfo, {device_, port, netdev, link_layer, lid(out, path), ""}, 1);
      add_rate(out, path, port, link_layer, netdev);
      add_gids(out, path, port);
      if (netdev.empty()) continue;
      if (ports->size() > 1) add_representor(out, port, netdev);
      if (const auto mtu = number(out, "/sys/class/net/" + netdev + "/mtu")) out.add(kMtu, {device_, port}, static_cast<double>(*mtu));
    }
    return {};
  }

 private:
  // nullopt: there is no such file, or it failed, which is counted.
  std::optional<std::uint64_t> number(Reading& out, const std::string& path) const {
    const auto value = host_.root.read_u64(path);
    if (value) return *value;
    if (!absent(value.error())) out.failed("port", value.error());
    return std::nullopt;
  }

  std::vector<std::string> slots_of(Reading& out, const std::string& path) const {
    auto slots = host_.root.list(path);
    if (slots) return std::move(*slots);
    if (!absent(slots.error())) out.failed("port", slots.error());
    return {};
  }

  // Of a file that makes the driver query the port.
  Result<std::string> query(Reading& out, const std::string& path) const {
    out.firmware_commands += query_;
    return host_.root.read_text(path);
  }

  std::string lid(Reading& out, const std::string& path) const {
    if (host_.root.exists(path + "/lid")) out.firmware_commands += query_;
    const std::uint64_t value = number(out, path + "/lid").value_or(0);
    return value ? std::to_string(value) : std::string();
  }

  // "400 Gb/sec (4X NDR)": the number may end in .5. The ledger judges counters by it: nothing but a plausible number will do.
  // A port without link has none: mlx5 shows 40 Gb/sec then (mlx5_ib/main.c translate_eth_proto_oper). So has one whose state is not known,
  // which port_state counts.
  void add_rate(Reading& out, const std::string& path, const std::string& port, std::string_view link_layer, const std::string& netdev) {
    out.ledger.line_rate(port, std::nullopt);
    const auto state = query(out, path + "/state");
    if (!state || state->starts_with("1:")) return;
    const auto read = query(out, path + "/rate");
    if (!read && absent(read.error())) return;
    if (!read) return out.failed("port", read.error());
    const std::string_view rate = trim(*read);
    double gigabits = 0;
    const auto [end, ec] = std::from_chars(rate.data(), rate.data() + rate.size(), gigabits);
    const bool unit = std::string_view(end, static_cast<std::size_t>(rate.data() + rate.size() - end)).starts_with(" Gb/sec");
    if (ec != std::errc{} || !unit || !(gigabits > 0 && gigabits < kMostGigabits)) {  // from_chars takes "nan" and "inf" too
      return out.failed("port", Error{ErrorCode::parse, 0, path + "/rate: " + quoted(rate) + " is no rate"});
    }
    if (link_layer == "Ethernet" && gigabits == kMostOfKernel) gigabits = netdev_gigabits(out, netdev).value_or(gigabits);
    const double bytes_per_second = gigabits * 1e9 / 8;
    if (!is_made_up(driver_, link_layer, gigabits)) out.ledger.line_rate(port, bytes_per_second);
    out.add(kRate, {device_, port}, bytes_per_second);
  }

  // Linux 6.1 calls every Ethernet speed above 40 Gb/s 100 Gb/s (core/verbs.c ib_get_eth_speed), on all drivers but mlx5 and mlx4, whose rate is
  // the port's own while that of their netdev may be a bond's. Some netdevs have no speed: then there is only the rate.
  // The kernel reads it under the lock of all netdevs; while that cannot be had, it is as it was.
  std::optional<double> netdev_gigabits(Reading& out, const std::string& netdev) {
    if (netdev.empty() || driver_.starts_with("mlx")) return std::nullopt;
    const Waiting waiting(out);
    if (const auto pass = rtnl_gate().enter(netdev)) {
      const auto megabits = host_.root.read_u64("/sys/class/net/" + netdev + "/speed");
      const bool told = megabits && *megabits > 0 && static_cast<double>(*megabits) < kMostGigabits * 1000;
      speeds_[netdev] = told ? std::optional(static_cast<double>(*megabits) / 1000) : std::nullopt;
    }
    return speeds_[netdev];
  }

  void add_representor(Reading& out, const std::string& port, const std::string& netdev) const {
    const Waiting waiting(out);
    const auto found = representor_of(host_, netdev);
    if (!found) return out.failed("port", found.error());
    if (*found && !(*found)->vf.empty()) out.add(kRepresentor, {device_, port, netdev, (*found)->pf, (*found)->vf}, 1);
  }

  void add_gids(Reading& out, const std::string& path, const std::string& port) const {
    std::size_t found = 0;
    for (const std::string& slot : slots_of(out, path + "/gids")) {
      const std::string text = read_fact(host_, path + "/gids/" + slot, "port", out);
      const auto gid = parse_gid(text);
      if (!gid && !text.empty()) out.failed("port", Error{ErrorCode::parse, 0, path + "/gids/" + slot + ": " + quoted(text) + " is no GID"});
      // The kernel fills slots from the front; an empty one reads as zero.
      if (!gid || *gid == Gid{}) continue;
      out.add(kGid, {device_, port, to_string(*gid)}, 1);
      if (++found == kMostGids) return;
    }
  }

  const Host& host_;
  const std::string device_, driver_;
  std::unique_ptr<DeviceNetlink> netlink_;
  std::map<std::string, std::optional<double>> speeds_;  // by netdev, as last told
  const unsigned query_;  // what one asks of the firmware
};

}  // namespace

const CollectorRow kPortInfo{"port_info", Clock::slow, kMetrics,
                             [](const Host& host, const std::string& device) -> std::unique_ptr<Collector> { return std::make_unique<PortInfo>(host, device); }};

}  // namespace qpscope
