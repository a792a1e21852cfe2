// SPDX-License-Identifier: Apache-2.0
// How wide and fast the device's PCIe link is, how it could be, and what went wrong on it: files of its PCI function
// (drivers/pci/pci-sysfs.c, drivers/pci/pcie/aer.c). They ask no firmware.
#include <array>
#include <charconv>
#include <optional>

#include "collectors/counter_folder.h"
#include "collectors/driver.h"
#include "collectors/fact.h"
#include "collectors/registry.h"
#include "core/text.h"

namespace qpscope {
namespace {

constexpr LabelNames kDevice{"device"};
constexpr MetricDef kWidth{"qpscope_device_pcie_link_width_lanes", MetricType::gauge, "Lanes of the PCIe link (sysfs device/current_link_width).", kDevice};
constexpr MetricDef kMaxWidth{"qpscope_device_pcie_link_max_width_lanes", MetricType::gauge, "Lanes that the device could use (sysfs device/max_link_width).", kDevice};
constexpr MetricDef kSpeed{"qpscope_device_pcie_link_speed_transfers_per_second", MetricType::gauge,
                           "Speed of a lane of the PCIe link; 32e9 is PCIe 5 (sysfs device/current_link_speed).", kDevice};
constexpr MetricDef kMaxSpeed{"qpscope_device_pcie_link_max_speed_transfers_per_second", MetricType::gauge,
                              "Speed of a lane that the device could use (sysfs device/max_link_speed).", kDevice};
constexpr MetricDef kAer{"qpscope_device_pcie_aer_errors_total", MetricType::counter,
                         "PCIe errors of the device that Advanced Error Reporting has logged: correctable, nonfatal, fatal (sysfs device/aer_dev_*).",
                         LabelNames{"device", "severity"}};
constexpr std::array<const MetricDef*, 5> kMetrics{&kWidth, &kMaxWidth, &kSpeed, &kMaxSpeed, &kAer};

constexpr std::uint64_t kUnknownWidth = 255;  // PCI_LNK_WIDTH_UNKNOWN; a virtual function, whose registers read as zero, has 0
constexpr double kFastest = 1000;             // GT/s; PCIe 7 has 128

// "32.0 GT/s PCIe", "Unknown".
std::optional<double> transfers_per_second(std::string_view text) {
  double giga = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), giga);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error != std::errc{} || !unit.starts_with(" GT/s") || !(giga > 0 && giga < kFastest)) return std::nullopt;
  return giga * 1e9;
}

// The number behind the line's first word.
std::optional<std::uint64_t> total_in(std::string_view text) {
  constexpr std::string_view kTotal = "TOTAL_ERR_";
  const auto at = text.find(kTotal);
  const auto blank = at == std::string_view::npos ? at : text.find(' ', at);
  if (blank == std::string_view::npos) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + blank + 1, text.data() + text.size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

class PcieLink : public Collector {
 public:
  PcieLink(const Host& host, const std::string& device)
      : host_(host), device_(device), path_(device_path(device) + "/device/"), hardware_(has_firmware(driver_of(host, device).value_or(""))) {}

  Result<> collect(Reading& out) override {
    if (!hardware_) return {};  // some kernels give soft-RoCE the NIC below it as parent device
    add_width(out, kWidth, "current_link_width");
    add_width(out, kMaxWidth, "max_link_width");
    add_speed(out, kSpeed, "current_link_speed");
    add_speed(out, kMaxSpeed, "max_link_speed");
    for (const char* severity : {"correctable", "nonfatal", "fatal"}) add_errors(out, severity);
    return {};
  }

 private:
  std::string text(Reading& out, const std::string& file) const { return read_fact(host_, path_ + file, "pci", out); }
  void nonsense(Reading& out, const std::string& file, const std::string& what) const {
    out.failed("pci", Error{ErrorCode::parse, 0, path_ + file + ": not as expected: " + quoted(what)});
  }

  void add_width(Reading& out, const MetricDef& def, const std::string& file) const {
    const std::string read = text(out, file);
    if (read.empty() || read == "Unknown") return;
    const auto lanes = parse_u64(read, path_ + file);
    if (!lanes) return out.failed("pci", lanes.error());
    if (*lanes != 0 && *lanes != kUnknownWidth) out.add(def, {device_}, static_cast<double>(*lanes));
  }

  void add_speed(Reading& out, const MetricDef& def, const std::string& file) const {
    const std::string read = text(out, file);
    if (read.empty() || read.starts_with("Unknown")) return;
    const auto speed = transfers_per_second(read);
    if (!speed) return nonsense(out, file, read);
    out.add(def, {device_}, *speed);
  }

  void add_errors(Reading& out, const std::string& severity) const {
    const std::string file = "aer_dev_" + severity, read = text(out, file);
    if (read.empty()) return;
    const auto raw = total_in(read);
    if (!raw) return nonsense(out, file, read);
    if (const auto counted = out.count({"", "pci", file}, *raw, kWide)) out.add(kAer, {device_, severity}, counted->total);
  }

  const Host& host_;
  const std::string device_, path_;
  const bool hardware_;
};

}  // namespace

const CollectorRow kPcieLink{"pcie_link", Clock::slow, kMetrics,
                             [](const Host& host, const std::string& device) -> std::unique_ptr<Collector> { return std::make_unique<PcieLink>(host, device); }};

}  // namespace qpscope
