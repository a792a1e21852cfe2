// SPDX-License-Identifier: Apache-2.0
// Is the link up: read on the fast clock.
#include <array>

#include "collectors/counter_folder.h"
#include "collectors/registry.h"
#include "core/text.h"

namespace qpscope {
namespace {

constexpr LabelNames kPort{"device", "port"};
constexpr MetricDef kState{"qpscope_port_state", MetricType::gauge,
                           "Logical state: 0 NOP, 1 DOWN, 2 INIT, 3 ARMED, 4 ACTIVE, 5 ACTIVE_DEFER (sysfs ports/N/state).", kPort};
constexpr MetricDef kPhysical{
    "qpscope_port_physical_state", MetricType::gauge,
    "Physical state: 1 Sleep, 2 Polling, 3 Disabled, 4 PortConfigurationTraining, 5 LinkUp, 6 LinkErrorRecovery, 7 Phy Test (sysfs ports/N/phys_state).",
    kPort};
constexpr std::array<const MetricDef*, 2> kMetrics{&kState, &kPhysical};

class PortState : public Collector {
 public:
  PortState(const Host& host, const std::string& device) : device_(device) {
    for (const std::string& port : port_numbers(host, device).value_or(std::vector<std::string>())) {
      const std::string path = device_path(device) + "/ports/" + port;
      for (const auto& [def, name] : {std::pair(&kState, "/state"), std::pair(&kPhysical, "/phys_state")}) {
        if (host.root.exists(path + name)) files_.push_back({def, port, PolledFile(host.root, path + name)});
      }
    }
  }

  Result<> collect(Reading& out) override {
    std::array<char, 64> buffer;
    for (Entry& entry : files_) {
      const auto text = entry.file.read(buffer, out, "port");
      if (!text) continue;
      // "4: ACTIVE": the number is the kernel's, the word for people.
      const auto number = parse_u64(text->substr(0, text->find(':')), entry.file.path());
      if (number) {
        out.add(*entry.def, {device_, entry.port}, static_cast<double>(*number));
      } else {
        out.failed("port", number.error());
      }
    }
    return {};
  }

 private:
  struct Entry {
    const MetricDef* def;
    std::string port;
    PolledFile file;
  };
  const std::string device_;
  std::vector<Entry> files_;
};

}  // namespace

const CollectorRow kPortState{"port_state", Clock::fast, kMetrics,
                              [](const Host& host, const std::string& device) -> std::unique_ptr<Collector> { return std::make_unique<PortState>(host, device); }};

}  // namespace qpscope
