// SPDX-License-Identifier: Apache-2.0
// Prints what collectors/host/nldev sees, one thing a line, for comparison with the rdma tool in the guest.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "collectors/host/nldev.h"

using namespace qpscope;

namespace {

constexpr const char* kUsage =
    "usage: qpscope-nldev-dump                                  everything\n"
    "       qpscope-nldev-dump qp DEVICE_INDEX PORT QPN [TYPE]  one queue pair (TYPE 1 for GSI, 2 for RC: the default)\n"
    "       qpscope-nldev-dump count DEVICE_INDEX\n"
    "       qpscope-nldev-dump time DEVICE_INDEX                rows and milliseconds of one dump\n"
    "       qpscope-nldev-dump budget DEVICE_INDEX ROWS         a dump that is cut off, then a count on the same object\n";

void print(const char* what, const Error& error) {
  std::printf("%s error %s code %d: %s\n", what, errno_name(error.sys_errno).c_str(), static_cast<int>(error.code), error.what.c_str());
}

void print(DeviceIndex device, const QpRow& row) {
  std::printf("qp device %u lqpn %u port %u type %s state %s", device.value, row.qpn.value, row.port.value, to_string(row.type).c_str(),
              row.state ? std::string(to_string(*row.state)).c_str() : "?");
  if (row.remote_qpn) std::printf(" rqpn %u", row.remote_qpn->value);
  if (row.tid.value) std::printf(" pid %u", row.tid.value);
  if (!row.kern_name.empty()) std::printf(" kern [%s]", row.kern_name.c_str());
  std::printf("\n");
}

void print_queue_pairs(Nldev& nldev, DeviceIndex device) {
  const auto result = nldev.queue_pairs(device, BootTime{});
  if (!result) return print("qp", result.error());
  for (const QpRow& row : result->dump.rows) print(device, row);
  std::printf("qps device %u rows %zu complete %d\n", device.value, result->dump.rows.size(), result->dump.complete);
  if (result->trouble) print("qps", *result->trouble);
}

void print_ports(Nldev& nldev, const NlDevice& device) {
  const auto ports = nldev.ports(device.index);
  if (!ports) return print("port", ports.error());
  for (const NlPort& port : *ports) {
    std::printf("port %s/%u state %u phys_state %u netdev %s", device.name.c_str(), port.number.value, port.state, port.phys_state,
                port.netdev ? port.netdev->c_str() : "-");
    if (port.lid) std::printf(" lid %u", *port.lid);
    const auto again = nldev.port(device.index, port.number);
    std::printf(" again %s\n", again && again->state == port.state && again->netdev == port.netdev ? "same" : "DIFFERS");
    const auto counters = nldev.port_counters(device.index, port.number);
    if (!counters) {
      print("counter", counters.error());
      continue;
    }
    for (const auto& [name, value] : *counters) {
      std::printf("counter %s/%u %s %llu\n", device.name.c_str(), port.number.value, name.c_str(), static_cast<unsigned long long>(value));
    }
  }
}

int everything(Nldev& nldev) {
  const auto devices = nldev.devices();
  if (!devices) return print("device", devices.error()), 1;
  for (const NlDevice& device : *devices) {
    std::printf("device %u %s ports %u node_type %u protocol %s fw %s node_guid %016llx sys_image_guid %016llx\n", device.index.value,
                device.name.c_str(), device.last_port, device.node_type, device.protocol.c_str(),
                device.fw_version ? device.fw_version->c_str() : "-", static_cast<unsigned long long>(device.node_guid),
                static_cast<unsigned long long>(device.sys_image_guid));
    print_ports(nldev, device);
    if (const auto count = nldev.queue_pair_count(device.index)) {
      std::printf("count %s qp %u\n", device.name.c_str(), *count);
    } else {
      print("count", count.error());
    }
    print_queue_pairs(nldev, device.index);
  }
  return 0;
}

std::uint32_t number(const char* text) { return static_cast<std::uint32_t>(std::strtoul(text, nullptr, 0)); }

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "budget" && argc == 4) {
    auto cut = Nldev::open({.rows = number(argv[3])});
    if (!cut) return print("open", cut.error()), 1;
    print_queue_pairs(*cut, DeviceIndex{number(argv[2])});
    if (const auto count = cut->queue_pair_count(DeviceIndex{number(argv[2])})) std::printf("count after it %u\n", *count);
    return 0;
  }
  auto nldev = Nldev::open();
  if (!nldev) return print("open", nldev.error()), 1;
  if (mode.empty()) return everything(*nldev);
  if (mode == "qp" && argc >= 5) {
    const QpType type = argc > 5 ? static_cast<QpType>(number(argv[5])) : QpType::rc;
    const DeviceIndex device{number(argv[2])};
    const auto row = nldev->queue_pair(device, PortNum{number(argv[3])}, type, Qpn{number(argv[4])});
    if (!row) return print("qp", row.error()), 1;
    return print(device, *row), 0;
  }
  if (mode == "count" && argc == 3) {
    const auto count = nldev->queue_pair_count(DeviceIndex{number(argv[2])});
    if (!count) return print("count", count.error()), 1;
    return std::printf("%u\n", *count), 0;
  }
  if (mode == "time" && argc == 3) {
    const auto start = std::chrono::steady_clock::now();
    const auto result = nldev->queue_pairs(DeviceIndex{number(argv[2])}, BootTime{});
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (!result) return print("qp", result.error()), 1;
    return std::printf("rows %zu complete %d milliseconds %.1f\n", result->dump.rows.size(), result->dump.complete, took.count()), 0;
  }
  std::fputs(kUsage, stderr);
  return 2;
}
