// SPDX-License-Identifier: Apache-2.0
// hw_counters: a driver's own statistics, per port, per device, or both (efa, mana, hfi1; mlx5 in switchdev mode per device only).
#include <array>

#include "collectors/counter_folder.h"
#include "collectors/counter_kinds.h"
#include "collectors/driver.h"
#include "collectors/registry.h"
#include "collectors/utilization.h"
#include "collectors/vocabulary.h"

namespace qpscope {
namespace {

constexpr MetricDef kCounter{"qpscope_hw_counters_total", MetricType::counter, "A port's hardware counter by its kernel name (sysfs ports/N/hw_counters).",
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
  HwCounters(const Host& host, const std::string& device) : host_(host), device_(device), driver_(driver_of(host, device)), utilization_(device) {
    const auto all = [](std::string_view) { return true; };
    folders_.push_back({"", CounterFolder(host, device_path(device) + "/hw_counters", "hw_counters", all)});
    for (const std::string& port : port_numbers(host, device).value_or(std::vector<std::string>())) {
      folders_.push_back({port, CounterFolder(host, device_path(device) + "/ports/" + port + "/hw_counters", "hw_counters", all)});
    }
  }

  Result<> collect(Reading& out) override {
    // It says how wide a counter is: without it a wrap would read as a reset.
    if (!driver_) driver_ = driver_of(host_, device_);
    if (!driver_) return std::unexpected(driver_.error());
    for (Level& level : folders_) {
      level.folder.read(out, [&](const std::string& name, std::uint64_t value) { add(out, level.port, name, value); });
    }
    utilization_.end_pass(out);
    return {};
  }

 private:
  struct Level {
    std::string port;  // "" for the device's own
    CounterFolder folder;
  };

  void add(Reading& out, const std::string& port, const std::string& name, std::uint64_t raw) {
    if (name == "lifespan") return out.add(kLifespan, {device_, port}, static_cast<double>(raw) / 1000);  // a setting in milliseconds
    const HwCounterKind is = hw_counter_kind(*driver_, name);
    if (is.gauge) return out.add(kValue, {device_, port, name}, static_cast<double>(raw));
    const CounterKeyView key{port, "hw_counters", name};
    const auto total = out.count(key, raw, is.kind);
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
  Result<std::string> driver_;
  std::vector<Level> folders_;
  Utilization utilization_;
};

}  // namespace

const CollectorRow kHwCounters{"hw_counters", Clock::fast, kMetrics,
                               [](const Host& host, const std::string& device) -> std::unique_ptr<Collector> { return std::make_unique<HwCounters>(host, device); }};

}  // namespace qpscope
