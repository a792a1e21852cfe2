// SPDX-License-Identifier: Apache-2.0
// ports/N/counters, the IB PortCounters. Each file is one question to the driver, so two rows on two clocks: bytes and
// packets are sampled fast, the error counters slowly.
#include <array>
#include <optional>
#include <utility>

#include "collectors/counter_folder.h"
#include "collectors/driver.h"
#include "collectors/registry.h"
#include "collectors/sole_owner.h"
#include "collectors/utilization.h"
#include "collectors/vocabulary/vocabulary.h"

namespace qpscope {
namespace {

constexpr MetricDef kCounter{"qpscope_port_counters_total", MetricType::counter,
                             "A port counter by its kernel name; bytes are in the port families (sysfs ports/N/counters).",
                             LabelNames{"device", "port", "counter"}};
constexpr MetricDef kSaturated{"qpscope_port_counters_saturated", MetricType::gauge,
                               "1 while a port counter is at its maximum: what happens then it does not show (sysfs ports/N/counters).",
                               LabelNames{"device", "port", "counter"}};
constexpr std::array<const MetricDef*, 2> kMetrics{&kCounter, &kSaturated};

constexpr std::uint64_t kMost32 = 0xffff'ffff;

bool is_traffic(const CounterRow* row) { return row && row->family; }

class PortCounters : public Collector {
 public:
  PortCounters(const Host& host, const std::string& device, const CounterFolder::Wanted& wanted)
      : host_(host), device_(device), utilization_(device), sole_owner_(host, device, "counters") {
    const ReadCost cost = ReadCost::each(firmware_cost(driver()).counters_file);
    for (const std::string& port : port_numbers(host, device).value_or(std::vector<std::string>())) {
      const std::string path = device_path(device) + "/ports/" + port + "/counters";
      ports_.push_back({port, host.root.exists(path + "/unicast_rcv_packets"), CounterFolder(host, path, "counters", wanted, cost)});
    }
  }

  Result<> collect(Reading& out) override {
    driver();
    for (Port& port : ports_) {
      const BootTime began = out.now();
      port.folder.read(out, [&](const std::string& name, std::uint64_t raw) { add(out, port, name, raw); });
      sole_owner_.follow(out, driver_, port.number, began, false);
    }
    utilization_.end_pass(out);
    return {};
  }

 private:
  struct Port {
    std::string number;
    bool extended;  // 64-bit counters of bytes and packets
    CounterFolder folder;
  };

  // Asked again while it cannot be told, which device_info counts.
  const std::string& driver() {
    if (driver_known_) return driver_;
    auto name = driver_of(host_, device_);
    driver_known_ = name.has_value();
    if (name) driver_ = std::move(*name);
    return driver_;
  }

  void add(Reading& out, Port& port, const std::string& name, std::uint64_t raw) {
    const CounterRow* row = port_counter_row(name);
    // Some kernels and cards have wide bytes and packets without the unicast files (core/sysfs.c pma_attrs_noietf).
    port.extended |= is_traffic(row) && raw > kMost32;
    const CounterKind kind = port_counter_kind(name, port.extended);
    const CounterKeyView key{port.number, "counters", name};
    const auto counted = out.count(key, raw, kind);
    if (!counted) return;
    if (saturated(raw, kind)) out.add(kSaturated, {device_, port.number, name}, 1);
    if (!row || row->unit != Unit::words) out.add(kCounter, {device_, port.number, name}, counted->total);
    if (const auto* meaning = port_counter_meaning(driver_, name)) {
      out.samples.push_back(canonical_sample(*meaning, device_, port.number, counted->total * meaning->scale()));
      utilization_.follow(out, port.number, *meaning->family, counted->rate.transform([&](double rate) { return rate * meaning->scale(); }));
    }
  }

  const Host& host_;
  const std::string device_;
  std::string driver_;
  bool driver_known_ = false;
  std::vector<Port> ports_;
  Utilization utilization_;
  SoleOwner sole_owner_;
};

}  // namespace

const CollectorRow kPortTraffic{"port_traffic", Clock::fast, kMetrics, [](const Host& host, const std::string& device) -> std::unique_ptr<Collector> {
                                  return std::make_unique<PortCounters>(host, device, [](std::string_view name) { return is_traffic(port_counter_row(name)); });
                                }};
const CollectorRow kPortErrors{"port_errors", Clock::slow, kMetrics, [](const Host& host, const std::string& device) -> std::unique_ptr<Collector> {
                                 return std::make_unique<PortCounters>(host, device, [](std::string_view name) { return !is_traffic(port_counter_row(name)); });
                               }};

}  // namespace qpscope
