// SPDX-License-Identifier: Apache-2.0
// ports/N/counters, the IB PortCounters. Each file is one question to the driver, so two rows on two clocks: bytes and
// packets are sampled fast, the error counters slowly.
#include <array>

#include "collectors/counter_folder.h"
#include "collectors/registry.h"
#include "collectors/vocabulary.h"

namespace qpscope {
namespace {

constexpr MetricDef kCounter{"qpscope_port_counters_total", MetricType::counter,
                             "A port counter by its kernel name; bytes are in the port families (sysfs ports/N/counters).",
                             LabelNames{"device", "port", "counter"}};
constexpr std::array<const MetricDef*, 1> kMetrics{&kCounter};

bool is_traffic(std::string_view name) { return port_counter_meaning(name) != nullptr; }
bool in_words(std::string_view name) { return name == "port_xmit_data" || name == "port_rcv_data"; }

class PortCounters : public Collector {
 public:
  PortCounters(const Host& host, const std::string& device, const CounterFolder::Wanted& wanted) : device_(device) {
    for (const std::string& port : port_numbers(host, device)) {
      ports_.push_back({port, CounterFolder(host, device_path(device) + "/ports/" + port + "/counters", "counters", wanted)});
    }
  }

  Result<> collect(Reading& out) override {
    for (Port& port : ports_) {
      port.folder.read(out, [&](const std::string& name, std::uint64_t value) {
        const auto count = static_cast<double>(value);
        if (!in_words(name)) out.add(kCounter, {device_, port.number, name}, count);
        if (const auto* meaning = port_counter_meaning(name)) out.samples.push_back(canonical_sample(*meaning, device_, port.number, count));
      });
    }
    return {};
  }

 private:
  struct Port {
    std::string number;
    CounterFolder folder;
  };
  const std::string device_;
  std::vector<Port> ports_;
};

}  // namespace

const CollectorRow kPortTraffic{"port_traffic", Clock::fast, kMetrics, [](const Host& host, const std::string& device) -> std::unique_ptr<Collector> {
                                  return std::make_unique<PortCounters>(host, device, is_traffic);
                                }};
const CollectorRow kPortErrors{"port_errors", Clock::slow, kMetrics, [](const Host& host, const std::string& device) -> std::unique_ptr<Collector> {
                                 return std::make_unique<PortCounters>(host, device, [](std::string_view name) { return !is_traffic(name); });
                               }};

}  // namespace qpscope
