// SPDX-License-Identifier: Apache-2.0
#include "firmware_watch.h"

#include <catch2/catch.hpp>

#include <filesystem>

using namespace qpscope;

namespace {

namespace fs = std::filesystem;

struct Machine {
  fs::path root = fs::temp_directory_path() / "qpscope-firmware-watch-test";
  Machine() {
    fs::remove_all(root);
    fs::create_directories(root / "sys/devices/pci0000:00/0000:03:00.0/infiniband/mlx5_0");
    fs::create_directories(root / "sys/class/infiniband");
    fs::create_symlink("../../devices/pci0000:00/0000:03:00.0/infiniband/mlx5_0", root / "sys/class/infiniband/mlx5_0");
    fs::create_symlink("../..", root / "sys/devices/pci0000:00/0000:03:00.0/infiniband/mlx5_0/device");
  }
  ~Machine() { fs::remove_all(root); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
};

const Sample* find(const SampleList& samples, std::string_view name, std::string_view last_label) {
  for (const Sample& one : samples) {
    if (one.def->name == name && one.labels.size() > 0 && one.labels[one.labels.size() - 1] == last_label) return &one;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("commands are their RDMA device's, failures and slow ones are events", "[daemon.firmware_watch]") {
  const Machine machine;
  const auto root = Sysroot::open(machine.root.string());
  REQUIRE(root);
  EventHistory history;
  FirmwareWatch watch(*root, history);
  FirmwareCommands commands;
  commands.devices["0000:04:00.0"].others.counts[0] = 9;  // no RDMA device
  FirmwareCommands::Device& device = commands.devices["0000:03:00.0"];
  device.others.counts[0] = 5;
  device.ours.counts[13] = 1;
  device.ours.sum_ns = 2'500'000'000;
  device.failures[0x773] = 2;
  const SampleList samples = watch.look(commands, {"mlx5_0"}, {1});
  const Sample* seconds = find(samples, "qpscope_mlx5_command_seconds", "mlx5_0");
  REQUIRE(seconds);
  CHECK(std::get<HistogramValue>(seconds->value).sum == 2.5);
  CHECK(std::get<HistogramValue>(seconds->value).counts[0] == 5);
  const Sample* failed = find(samples, "qpscope_mlx5_command_failures_total", "QUERY_Q_COUNTER");
  REQUIRE(failed);
  CHECK(std::get<double>(failed->value) == 2);
  CHECK(watch.others() == std::map<std::string, std::uint64_t>{{"mlx5_0", 5}});
  REQUIRE(history.since({}).events.size() == 2);

  watch.look(commands, {"mlx5_0"}, {2});
  CHECK(history.since({}).events.size() == 2);
  device.failures[0x773] = 3;
  watch.look(commands, {"mlx5_0"}, {3});
  const auto told = history.since({}).events;
  REQUIRE(told.size() == 3);
  CHECK(told[0]->kind == HistoryKind::firmware_command_slow);
  CHECK(told[2]->kind == HistoryKind::firmware_command_failed);
  CHECK(told[2]->message == "mlx5_0: the firmware command QUERY_Q_COUNTER failed once");
  CHECK(told[2]->device == "mlx5_0");
}

TEST_CASE("nothing is said of commands where none are seen", "[daemon.firmware_watch]") {
  const Machine machine;
  const auto root = Sysroot::open(machine.root.string());
  REQUIRE(root);
  EventHistory history;
  FirmwareWatch watch(*root, history);
  CHECK(watch.look({}, {"mlx5_0"}, {1}).size() == 1);  // uncounted
  CHECK(watch.others().empty());
}
