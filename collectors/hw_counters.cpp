// SPDX-License-Identifier: Apache-2.0
// hw_counters: a driver's own statistics, per port, per device, or both (efa, mana, hfi1, mlx4; mlx5 in switchdev mode per device, and of
// representors per port). A port's by one question to netlink, which asks the firmware for one pass and also tells the optional counters
// that are on. What only the device counts feeds the canonical families with an empty port: where a port counts it too, that is the truth.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "collectors/counter_folder.h"
#include "collectors/driver.h"
#include "collectors/known_counters.h"
#include "collectors/netlink_first.h"
#include "collectors/port_netdevs.h"
#include "collectors/registry.h"
#include "collectors/representor.h"
#include "collectors/set_cost.h"
#include "collectors/sole_owner.h"
#include "collectors/utilization.h"

namespace qpscope {
namespace {

constexpr MetricDef kCounter{"qpscope_hw_counters_total", MetricType::counter,
                             "A port's hardware counter by its kernel name (RDMA netlink STAT_GET, else sysfs ports/N/hw_counters).",
                             LabelNames{"device", "port", "counter"}};
constexpr MetricDef kDeviceCounter{"qpscope_device_hw_counters_total", MetricType::counter,
                                   "A device's hardware counter by its kernel name (sysfs hw_counters of the device).", LabelNames{"device", "counter"}};
constexpr MetricDef kValue{"qpscope_hw_value", MetricType::gauge,
                           "What is no counter among the hardware counters, by its kernel name; port is empty for the device's own (sysfs hw_counters).",
                           LabelNames{"device", "port", "counter"}};
constexpr MetricDef kLifespan{"qpscope_hw_counters_lifespan_seconds", MetricType::gauge,
                              "How long the kernel serves hardware counters from its cache; port is empty for the device's own (sysfs hw_counters/lifespan).",
                              LabelNames{"device", "port"}};
constexpr MetricDef kUnmapped{"qpscope_unmapped_counters", MetricType::gauge,
                              "Hardware counters of a device that the vocabulary has no row for, so that their kernel name is all that is known (sysfs hw_counters).",
                              LabelNames{"device"}};
constexpr std::array<const MetricDef*, 5> kMetrics{&kCounter, &kDeviceCounter, &kValue, &kLifespan, &kUnmapped};

constexpr double kRepresentorSeconds = 15;  // a netdev may come later than its port

class HwCounters : public Collector {
 public:
  HwCounters(const Host& host, const std::string& device) : host_(host), device_(device), utilization_(device), sole_owner_(host, device, "hw_counters") {
    if (host.netlink) netlink_ = host.netlink(device);
  }

  Result<> collect(Reading& out) override {
    // It says how wide a counter is: without it a wrap would read as a reset.
    if (!driver_) {
      auto driver = driver_of(host_, device_);
      if (!driver) return std::unexpected(std::move(driver.error()));
      driver_ = std::move(*driver);
      make_levels();
    }
    look_for_representors(out);
    for (Level& level : levels_) {
      const BootTime began = out.now();
      read_lifespan(level, out);
      const bool of_port = netlink_ && !level.port.empty();
      if (of_port) level.sets.look(out, *netlink_, port_number(level.port));
      const auto told = level.way.ask(out, "hw_counters", pass_, [&] { return netlink_->port_counters(port_number(level.port)); });
      if (told) {
        out.firmware_commands += level.sets.commands(told->size());
        for (const auto& [name, value] : *told) add(out, level, name, value);
      } else if (level.way.files()) {
        out.firmware_commands += level.sets.commands(level.folder.size());
        level.folder.read(out, [&](const std::string& name, std::uint64_t value) { add(out, level, name, value); });
      }
      if (!level.port.empty()) sole_owner_.follow(out, *driver_, level.port, began, level.sets.settles());
    }
    for (Level& level : levels_) add_canonical(out, level);
    utilization_.end_pass(out);
    add_unmapped(out);
    out.lost = out.troubles > 0 && out.counted == 0;
    return {};
  }

 private:
  struct Level {
    std::string port;      // "" for the device's own, which netlink does not tell
    KnownCounters known;
    CounterFolder folder;  // all but lifespan
    std::optional<PolledFile> lifespan;
    NetlinkFirst way;
    SetCost sets;
    bool representor = false;  // else what it shows of another function is never filled by the driver, and left out
  };

  void make_levels() {
    pass_ = firmware_cost(*driver_).hw_counters;
    levels_.push_back(level("", device_path(device_)));
    for (const std::string& port : port_numbers(host_, device_).value_or(std::vector<std::string>()))
      levels_.push_back(level(port, device_path(device_) + "/ports/" + port));
  }

  Level level(const std::string& port, const std::string& above) const {
    const std::string path = above + "/hw_counters";
    KnownCounters known(*driver_);
    const auto counters = [&](std::string_view name) { return name != "lifespan" && (known.find(name), true); };
    CounterFolder folder(host_, path, "hw_counters", counters, ReadCost::cached(pass_, *driver_ == "mlx5_core"));
    Level out{.port = port,
              .known = std::move(known),
              .folder = std::move(folder),
              .lifespan = std::nullopt,
              .way = NetlinkFirst(netlink_ && !port.empty()),
              .sets = {}};
    if (host_.root.exists(path + "/lifespan")) out.lifespan.emplace(host_.root, path + "/lifespan");
    return out;
  }

  // A setting in milliseconds, not a counter.
  void read_lifespan(Level& level, Reading& out) const {
    std::array<char, 64> buffer;
    const auto text = level.lifespan ? level.lifespan->read(buffer, out, "hw_counters", 0) : std::nullopt;
    if (!text) return;
    const auto milliseconds = parse_u64(*text, level.lifespan->path());
    if (!milliseconds) return out.failed("hw_counters", milliseconds.error());
    const double seconds = static_cast<double>(*milliseconds) / 1000;
    out.add(kLifespan, {device_, level.port}, seconds);
    level.folder.lifespan(seconds);
  }

  // What ports show of the functions behind them, the uplink's never has (hw/mlx5/counters.c mlx5_ib_query_q_counters_vport). Reads that
  // fail are port_info's to count.
  void look_for_representors(Reading& out) {
    const BootTime now = out.now();
    if (std::ranges::none_of(levels_, [](const Level& level) { return level.known.has_representor(); })) return;
    if (looked_.value && seconds(now, looked_) < kRepresentorSeconds) return;
    looked_ = now;
    PortNetdevs netdevs = port_netdevs(host_, device_, *driver_, netlink_.get(), [](const Error&) {});
    out.firmware_commands += netdevs.asked * firmware_cost(*driver_).port_query;
    for (Level& level : levels_) {
      const std::string netdev = std::move(netdevs.names[level.port]);
      const Waiting waiting(out);
      const auto found = netdev.empty() ? std::optional<Representor>() : representor_of(host_, netdev);
      if (found) level.representor = found->has_value();
    }
  }

  void add(Reading& out, Level& level, const std::string& name, std::uint64_t raw) {
    const std::string& port = level.port;
    KnownCounters::Counter& is = level.known.find(name);
    if (is.of_representor && !level.representor) return;
    if (is.labels.empty()) is.labels = port.empty() && !is.shape.gauge ? Labels{device_, name} : Labels{device_, port, name};
    if (is.shape.gauge) return out.add(kValue, is.labels, static_cast<double>(raw));
    const auto counted = out.count({port, "hw_counters", name}, raw, is.shape.kind, level.sets.settles());
    if (!counted) return;
    level.known.add(is, counted->total, counted->rate);
    out.add(port.empty() ? kDeviceCounter : kCounter, is.labels, counted->total);
  }

  void add_canonical(Reading& out, Level& level) {
    if (level.known.has_sums()) {
      out.ledger.each(level.port, [&](const CounterKeyView& key, std::uint64_t total) {
        if (key.source == "hw_counters") level.known.add_gone(key.name, static_cast<double>(total));
      });
    }
    level.known.end_pass([&](KnownCounters::Series& one) {
      if (one.of_representor && !level.representor) return;
      if (level.port.empty() && a_port_feeds(*one.meaning)) return;
      if (one.labels.empty()) one.labels = canonical_labels(*one.meaning, device_, level.port);
      out.add(*one.meaning->family, one.labels, one.value);
      if (!level.port.empty()) utilization_.follow(out, level.port, *one.meaning->family, one.rate);
    });
  }

  // By what ports have, read or not, so that no series comes and goes with a read that fails. What representors show is of other functions:
  // in switchdev mode the device's own is nowhere else.
  bool a_port_feeds(const CounterRow& meaning) const {
    return std::ranges::any_of(levels_, [&](const Level& level) { return !level.port.empty() && level.known.feeds(meaning); });
  }

  void add_unmapped(Reading& out) const {
    if (std::ranges::all_of(levels_, [](const Level& level) { return level.known.empty(); })) return;
    std::set<std::string, std::less<>> names;
    for (const Level& level : levels_) names.insert(level.known.unmapped().begin(), level.known.unmapped().end());
    out.add(kUnmapped, {device_}, static_cast<double>(names.size()));
  }

  const Host& host_;
  const std::string device_;
  std::optional<std::string> driver_;
  unsigned pass_ = 0;  // what one over the counters asks of the firmware
  std::unique_ptr<DeviceNetlink> netlink_;
  std::vector<Level> levels_;
  BootTime looked_;  // for representors
  Utilization utilization_;
  SoleOwner sole_owner_;
};

}  // namespace

const CollectorRow kHwCounters{"hw_counters", Clock::fast, kMetrics,
                               [](const Host& host, const std::string& device) -> std::unique_ptr<Collector> { return std::make_unique<HwCounters>(host, device); }};

}  // namespace qpscope
