// SPDX-License-Identifier: Apache-2.0
#include "core/firmware_commands.h"

#include <catch2/catch.hpp>

#include "bpf/commands.h"

using namespace qpscope;

TEST_CASE("opcodes by name, unknown ones as numbers", "[core.firmware_commands]") {
  CHECK(command_name(0x773) == "QUERY_Q_COUNTER");
  CHECK(command_name(0x200) == "CREATE_MKEY");
  CHECK(command_name(0xa08) == "CREATE_UMEM");
  CHECK(command_name(0xa09) == "0xa09");
  CHECK(command_name(0) == "0x0");
}

TEST_CASE("both sides have the same buckets", "[core.firmware_commands]") {
  constexpr std::uint64_t bounds[] = COMMAND_BOUNDS_NS;
  CHECK(std::equal(std::begin(bounds), std::end(bounds), kCommandBoundsNs.begin(), kCommandBoundsNs.end()));
}

TEST_CASE("counts of two probe sets add up", "[core.firmware_commands]") {
  FirmwareCommands a, b;
  FirmwareCommands::Device& device = b.devices["0000:03:00.0"];
  device.others.counts[0] = 5;
  device.others.counts[12] = 1;  // up to a second
  device.others.counts[13] = 2;
  device.others.counts.back() = 1;
  device.others.sum_ns = 7;
  device.ours.counts[1] = 3;
  device.failures[0x200] = 4;
  b.uncounted = 1;
  a += b;
  a += b;
  const FirmwareCommands::Device& sum = a.devices.at("0000:03:00.0");
  CHECK(sum.others.count() == 18);
  CHECK(sum.others.longer_than(1'000'000'000) == 6);
  CHECK(sum.others.sum_ns == 14);
  CHECK(sum.ours.count() == 6);
  CHECK(sum.failures.at(0x200) == 8);
  CHECK(a.uncounted == 2);
}
