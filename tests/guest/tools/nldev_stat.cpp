// SPDX-License-Identifier: Apache-2.0
// Counter sets by collectors/host/nldev, for comparison with `rdma statistic qp` in the guest.
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/host/nldev.h"

using namespace qpscope;

namespace {

constexpr const char* kUsage =
    "usage: qpscope-nldev-stat mode DEVICE PORT\n"
    "       qpscope-nldev-stat auto DEVICE PORT MASK         1 by type, 2 by thread, 0 off\n"
    "       qpscope-nldev-stat sets DEVICE [PORT]\n"
    "       qpscope-nldev-stat set DEVICE PORT ID\n"
    "       qpscope-nldev-stat bind DEVICE PORT QPN [ID]     prints the number of the new set\n"
    "       qpscope-nldev-stat unbind DEVICE PORT QPN ID\n"
    "An error prints its errno's name; exit status 1.\n";

int failed(const Error& error) {
  std::printf("%s\n", errno_name(error.sys_errno).c_str());
  std::fprintf(stderr, "%s\n", error.what.c_str());
  return 1;
}

const char* word(NlCounterMode::Kind kind) {
  switch (kind) {
    case NlCounterMode::Kind::none:
      return "none";
    case NlCounterMode::Kind::automatic:
      return "auto";
    case NlCounterMode::Kind::manual:
      return "manual";
  }
  return "?";
}

void print(const NlCounterSet& set) {
  std::printf("set %u port %u mode %s", set.id.value, set.port.value, word(set.mode));
  if (set.type) std::printf(" type %s", to_string(*set.type).c_str());
  if (set.tid.value) std::printf(" pid %u", set.tid.value);
  std::printf(" lqpn");
  for (const Qpn qpn : set.members) std::printf(" %u", qpn.value);
  std::printf("\n");
  for (const auto& [name, value] : set.counters) std::printf("counter %u %s %llu\n", set.id.value, name.c_str(), static_cast<unsigned long long>(value));
}

Result<DeviceIndex> device_named(Nldev& nldev, std::string_view name) {
  const auto devices = nldev.devices();
  if (!devices) return std::unexpected(devices.error());
  for (const NlDevice& one : *devices) {
    if (one.name == name) return one.index;
  }
  return std::unexpected(io_error(std::string(name), ENODEV));
}

int run(Nldev& nldev, std::string_view what, DeviceIndex device, const std::vector<std::uint32_t>& numbers) {
  const auto number = [&](std::size_t i) { return i < numbers.size() ? numbers[i] : 0; };
  const PortNum port{number(0)};
  const auto ended = [](const Result<>& result) { return result ? 0 : failed(result.error()); };
  if (what == "mode") {
    const auto mode = nldev.counter_mode(device, port);
    return mode ? std::printf("%s %u\n", word(mode->kind), mode->mask), 0 : failed(mode.error());
  }
  if (what == "auto") return ended(nldev.set_automatic_mode(device, port, number(1)));
  if (what == "sets") {
    const auto sets = nldev.counter_sets(device, numbers.empty() ? std::nullopt : std::optional(port));
    if (!sets) return failed(sets.error());
    for (const NlCounterSet& set : sets->rows) print(set);
    return sets->trouble ? failed(*sets->trouble) : 0;
  }
  if (what == "set") {
    const auto set = nldev.counter_set(device, port, CounterSetId{number(1)});
    return set ? print(*set), 0 : failed(set.error());
  }
  if (what == "bind" && numbers.size() == 3) return ended(nldev.bind_to_set(device, port, Qpn{number(1)}, CounterSetId{number(2)}));
  if (what == "bind") {
    const auto id = nldev.bind_to_new_set(device, port, Qpn{number(1)});
    return id ? std::printf("%u\n", id->value), 0 : failed(id.error());
  }
  if (what == "unbind") return ended(nldev.unbind(device, port, Qpn{number(1)}, CounterSetId{number(2)}));
  return std::fputs(kUsage, stderr), 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fputs(kUsage, stderr), 2;
  std::vector<std::uint32_t> numbers;
  for (const std::string_view text : std::vector<std::string_view>(argv + 3, argv + argc)) {
    std::uint32_t& value = numbers.emplace_back();
    if (std::from_chars(text.data(), text.data() + text.size(), value).ptr != text.data() + text.size()) return std::fputs(kUsage, stderr), 2;
  }
  auto nldev = Nldev::open();
  if (!nldev) return failed(nldev.error());
  const auto device = device_named(*nldev, argv[2]);
  if (!device) return failed(device.error());
  return run(*nldev, argv[1], *device, numbers);
}
