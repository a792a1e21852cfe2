// SPDX-License-Identifier: Apache-2.0
#include "firmware_watch.h"

#include <algorithm>
#include <array>

#include "core/text.h"

namespace qpscope {
namespace {

constexpr std::uint64_t kSlowNs = 1'000'000'000;  // applications that make or destroy queue pairs wait as long
constexpr auto kBounds = [] {
  std::array<double, kCommandBoundsNs.size()> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(kCommandBoundsNs[i]) / 1e9;
  return out;
}();

constexpr MetricDef kSeconds{"qpscope_mlx5_command_seconds", MetricType::histogram,
                             "How long firmware commands took that somebody waited for, ours too (BPF mlx5_cmd_do).", LabelNames{"device"}};
constexpr MetricDef kFailures{"qpscope_mlx5_command_failures_total", MetricType::counter,
                              "Firmware commands that failed, refused by the firmware or not answered (BPF mlx5_cmd_do).", LabelNames{"device", "opcode"}};
constexpr MetricDef kUncounted{"qpscope_mlx5_commands_uncounted_total", MetricType::counter,
                               "Firmware commands, or failures of them, that found no room to be counted in (BPF maps).", {}};
constexpr std::array<const MetricDef*, 3> kMetrics{&kSeconds, &kFailures, &kUncounted};

std::string times(std::uint64_t n) { return n == 1 ? "once" : std::to_string(n) + " times"; }

}  // namespace

MetricList firmware_metrics() { return kMetrics; }

void FirmwareWatch::tell(const std::string& device, const FirmwareCommands::Device& counted, Told& told, BootTime now) {
  const std::uint64_t slow = counted.ours.longer_than(kSlowNs) + counted.others.longer_than(kSlowNs);
  if (slow > told.slow) {
    history_.add(HistoryKind::firmware_command_slow, now, [&] {
      return HistoryEvent{.at = now, .device = device, .message = safe_text(device) + ": a firmware command took more than a second, " + times(slow - told.slow)};
    });
  }
  told.slow = slow;
  for (const auto& [opcode, count] : counted.failures) {
    std::uint64_t& before = told.failures[opcode];
    if (count > before) {
      history_.add(HistoryKind::firmware_command_failed, now, [&] {
        return HistoryEvent{.at = now, .device = device, .message = safe_text(device) + ": the firmware command " + command_name(opcode) + " failed " + times(count - before)};
      });
    }
    before = count;
  }
}

SampleList FirmwareWatch::look(const FirmwareCommands& commands, const std::vector<std::string>& devices, BootTime now) {
  SampleList out{sample(kUncounted, {}, static_cast<double>(commands.uncounted))};
  others_.clear();
  if (commands.devices.empty()) return out;
  if (devices != known_) {
    known_ = devices;
    functions_.clear();
    for (const std::string& device : devices) {
      if (const auto real = root_.real_path("/sys/class/infiniband/" + device + "/device")) functions_[real->substr(real->rfind('/') + 1)] = device;
    }
  }
  for (const auto& [function, counted] : commands.devices) {
    const auto found = functions_.find(function);
    if (found == functions_.end()) continue;
    const std::string& device = found->second;
    FirmwareCommands::Calls all = counted.ours;
    all += counted.others;
    out.push_back({&kSeconds, {device}, HistogramValue{kBounds, {all.counts.begin(), all.counts.end()}, static_cast<double>(all.sum_ns) / 1e9}});
    others_[device] = counted.others.count();
    for (const auto& [opcode, count] : counted.failures) out.push_back(sample(kFailures, {device, command_name(opcode)}, static_cast<double>(count)));
    tell(device, counted, told_[function], now);
  }
  return out;
}

}  // namespace qpscope
