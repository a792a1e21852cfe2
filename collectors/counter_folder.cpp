// SPDX-License-Identifier: Apache-2.0
#include "collectors/counter_folder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "collectors/fact.h"
#include "core/text.h"

namespace qpscope {

std::optional<std::string_view> PolledFile::read(std::span<char> buffer, Reading& out, std::string_view source, unsigned commands) {
  if (error_ && !back_off_.due(out.now())) {
    out.not_tried(*error_);
    return std::nullopt;
  }
  out.firmware_commands += commands;
  auto text = file_.read(buffer);
  if (text) {
    back_off_.succeeded();
    error_.reset();
    return *text;
  }
  out.failed(source, text.error());
  error_ = std::move(text.error());
  back_off_.failed(out.now());
  return std::nullopt;
}

CounterFolder::CounterFolder(const Host& host, const std::string& path, std::string_view source, const Wanted& wanted, ReadCost cost)
    : source_(source), cost_(cost) {
  auto names = host.root.list(path);
  if (!names) {
    if (!absent(names.error())) unlisted_ = std::move(names.error());
    return;
  }
  for (const std::string& name : *names) {
    if (wanted(name)) files_.push_back({name, PolledFile(host.root, path + "/" + name)});
  }
  // The kernel's first (read_cost.h): read first, it serves the whole pass.
  std::ranges::stable_partition(files_, [](const Named& one) { return one.name == "rx_write_requests"; });
}

std::optional<std::string_view> CounterFolder::read(Named& one, std::span<char> buffer, Reading& out) {
  const auto text = one.file.read(buffer, out, source_, cost_.commands(now_));
  if (!cost_.cached()) return text;
  const BootTime began = std::exchange(now_, out.now());
  if (text) cost_.has_read(began, now_, &one == &files_.front());
  return text;
}

void CounterFolder::read(Reading& out, const Take& take) {
  if (unlisted_ && !std::exchange(counted_, true)) {
    out.failed(source_, *unlisted_);
  } else if (unlisted_) {
    out.not_tried(*unlisted_);
  }
  std::array<char, 64> buffer;
  bool first_can = false;  // be read: else reading it again would only fail again
  if (cost_.cached()) now_ = out.now();
  for (Named& one : files_) {
    if (first_can && cost_.first_again(now_)) first_can = read(files_.front(), buffer, out).has_value();
    const auto text = read(one, buffer, out);
    if (&one == &files_.front()) first_can = text.has_value();
    if (!text) continue;
    if (const auto value = parse_u64(*text, one.file.path())) {
      take(one.name, *value);
    } else {
      out.failed(source_, value.error());
    }
  }
}

std::string device_path(const std::string& device) { return "/sys/class/infiniband/" + device; }

Result<std::vector<std::string>> port_numbers(const Host& host, const std::string& device) {
  auto names = host.root.list(device_path(device) + "/ports");
  if (!names) return absent(names.error()) ? std::vector<std::string>() : std::move(names);
  std::erase_if(*names, [](const std::string& name) { return name.empty() || !std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; }); });
  return names;
}

PortNum port_number(const std::string& port) {
  PortNum number;
  std::from_chars(port.data(), port.data() + port.size(), number.value);
  return number;
}

std::string device_shape(const Host& host, const std::string& device) {
  std::string shape;
  const auto add = [&](const std::string& path) {
    const auto names = host.root.list(path);
    shape += path + ":";
    if (!names) shape += names.error().what;
    for (const std::string& name : names.value_or(std::vector<std::string>())) shape += name + "/";
  };
  add(device_path(device) + "/hw_counters");
  const auto ports = port_numbers(host, device);
  if (!ports) shape += ports.error().what;
  for (const std::string& port : ports.value_or(std::vector<std::string>())) {
    for (const char* folder : {"/counters", "/hw_counters"}) add(device_path(device) + "/ports/" + port + folder);
  }
  return shape;
}

}  // namespace qpscope
