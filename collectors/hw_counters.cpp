// SPDX-License-Identifier: Apache-2.0
// hw_counters: a driver's own statistics, per port, per device, or both (efa, mana, hfi1; mlx5 in switchdev mode per device only). A
// port's by one question to netlink, which asks the firmware for one pass and also tells the optional counters that are on.
#include <array>
#include <memory>
#include <optional>

#include "collectors/counter_folder.h"
#include "collectors/counter_kinds.h"
#include "collectors/driver.h"
#include "collectors/netlink_first.h"
#include "collectors/registry.h"
#include "collectors/set_cost.h"
#include "collectors/sole_owner.h"
#include "collectors/utilization.h"
#include "collectors/vocabulary.h"

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
constexpr std::array<const MetricDef*, 4> kMetrics{&kCounter, &kDeviceCounter, &kValue, &kLifespan};

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
    utilization_.end_pass(out);
    return {};
  }

 private:
  struct Level {
    std::string port;      // "" for the device's own, which netlink does not tell
    CounterFolder folder;  // all but lifespan
    std::optional<PolledFile> lifespan;
    NetlinkFirst way;
    SetCost sets;
  };

  void make_levels() {
    pass_ = firmware_cost(*driver_).hw_counters;
    levels_.push_back(level("", device_path(device_)));
    for (const std::string& port : port_numbers(host_, device_).value_or(std::vector<std::string>()))
      levels_.push_back(level(port, device_path(device_) + "/ports/" + port));
  }

  Level level(const std::string& port, const std::string& above) const {
    const std::string path = above + "/hw_counters";
    const auto counters = [](std::string_view name) { return name != "lifespan"; };
    Level out{.port = port,
              .folder = CounterFolder(host_, path, "hw_counters", counters, ReadCost::cached(pass_, *driver_ == "mlx5_core")),
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

  void add(Reading& out, const Level& level, const std::string& name, std::uint64_t raw) {
    const std::string& port = level.port;
    const HwCounterKind is = hw_counter_kind(*driver_, name);
    if (is.gauge) return out.add(kValue, {device_, port, name}, static_cast<double>(raw));
    const CounterKeyView key{port, "hw_counters", name};
    const auto total = out.count(key, raw, is.kind, level.sets.settles());
    if (!total) return;
    if (port.empty()) return out.add(kDeviceCounter, {device_, name}, *total);
    out.add(kCounter, {device_, port, name}, *total);
    if (const auto* meaning = hw_counter_meaning(*driver_, name)) {
      out.samples.push_back(canonical_sample(*meaning, device_, port, *total));
      utilization_.follow(out, key, *meaning);
    }
  }

  const Host& host_;
  const std::string device_;
  std::optional<std::string> driver_;
  unsigned pass_ = 0;  // what one over the counters asks of the firmware
  std::unique_ptr<DeviceNetlink> netlink_;
  std::vector<Level> levels_;
  Utilization utilization_;
  SoleOwner sole_owner_;
};

}  // namespace

const CollectorRow kHwCounters{"hw_counters", Clock::fast, kMetrics,
                               [](const Host& host, const std::string& device) -> std::unique_ptr<Collector> { return std::make_unique<HwCounters>(host, device); }};

}  // namespace qpscope
