// SPDX-License-Identifier: Apache-2.0
#include "core/memory_table.h"

#include <catch2/catch.hpp>

#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

constexpr TenantId kA = 2, kB = 3;

MemoryRegion region(std::uint32_t number, std::uint32_t tid, std::uint64_t bytes = 4096, bool on_demand = false) {
  return {.number = number, .tid = {tid}, .kern_name = {}, .bytes = bytes, .on_demand = on_demand};
}

struct Memory {
  MemoryTable table;
  void has(const std::vector<MemoryRegion>& regions, DeviceIndex device = kDev) { table.replace(device, regions, {1}); }
  // Thread 100 is A's, thread 200 is B's.
  std::size_t attribute_all(QpTable::Settled settled = QpTable::Settled::yes) {
    const auto waiting = table.take_waiting();
    for (const auto& one : waiting) table.attribute(one.key, one.owner, one.owner->tid.value == 100 ? kA : kB, settled);
    return waiting.size();
  }
  // "regions/bytes" of a tenant.
  std::string of(TenantId tenant, bool on_demand = false, DeviceIndex device = kDev) const {
    const auto counts = table.counts();
    const auto it = counts.find({device, tenant, on_demand});
    return it == counts.end() ? "none" : std::to_string(it->second.regions) + "/" + std::to_string(it->second.bytes);
  }
};

}  // namespace

TEST_CASE("each tenant has what its threads registered, and an owner is asked about once", "[core.memory_table]") {
  Memory memory;
  memory.has({region(1, 100), region(2, 100, 8192), region(3, 200, 100), region(4, 200, 7, true)});
  CHECK(memory.of(0) == "3/12388");  // nobody's yet
  CHECK(memory.attribute_all() == 2);
  CHECK(memory.of(kA) == "2/12288");
  CHECK(memory.of(kB) == "1/100");
  CHECK(memory.of(kB, true) == "1/7");
  CHECK(memory.of(0) == "none");
  CHECK(memory.table.tenants() == std::vector<TenantId>{kA, kB});
  memory.has({region(2, 100, 8192), region(5, 100, 1), region(3, 200, 100)});
  CHECK(memory.attribute_all() == 0);
  CHECK(memory.of(kA) == "2/8193");
  CHECK(memory.of(kB) == "1/100");
  memory.has({});
  CHECK(memory.table.counts().empty());
  CHECK(memory.table.tenants().empty());
}

TEST_CASE("a region stays its owner's after the thread that registered it", "[core.memory_table]") {
  Memory memory;
  memory.has({region(1, 100)});
  memory.attribute_all();
  memory.has({region(1, 0)});
  CHECK(memory.of(kA) == "1/4096");
  // The number is another thread's by now.
  memory.has({region(1, 0), region(2, 100, 5)});
  CHECK(memory.of(kA) == "1/4096");
  CHECK(memory.of(0) == "1/5");
  const auto waiting = memory.table.take_waiting();
  REQUIRE(waiting.size() == 1);
  memory.table.attribute(waiting[0].key, waiting[0].owner, kB, QpTable::Settled::yes);
  CHECK(memory.of(kA) == "1/4096");
  CHECK(memory.of(kB) == "1/5");
}

TEST_CASE("a region whose thread had ended when it was first seen is nobody's", "[core.memory_table]") {
  Memory memory;
  memory.has({region(1, 0)});
  CHECK(memory.attribute_all() == 0);
  CHECK(memory.of(0) == "1/4096");
}

TEST_CASE("all that a thread had went, and its number is another's in the same list", "[core.memory_table]") {
  Memory memory;
  memory.has({region(1, 100)});
  memory.attribute_all();
  memory.has({region(2, 100, 5)});
  CHECK(memory.of(kA) == "none");
  CHECK(memory.table.take_waiting().size() == 1);
}

TEST_CASE("told twice, registered anew in place, of a device that is gone", "[core.memory_table]") {
  Memory memory;
  memory.has({region(1, 100, 5), region(1, 100, 6), region(2, 100, 7)});
  memory.attribute_all();
  CHECK(memory.of(kA) == "2/12");
  memory.has({region(1, 100, 50), region(1, 100, 5), region(2, 100, 7, true)});
  CHECK(memory.of(kA) == "1/50");
  CHECK(memory.of(kA, true) == "1/7");
  memory.has({region(1, 100, 9)}, kOtherDev);
  CHECK(memory.of(kA) == "1/50");
  CHECK(memory.of(0, false, kOtherDev) == "1/9");
  CHECK(memory.table.devices().size() == 2);
  memory.table.drop_device(kDev);
  CHECK(memory.of(kA) == "none");
  CHECK(memory.table.devices() == std::vector<DeviceIndex>{kOtherDev});
  CHECK(memory.attribute_all() == 1);
}

TEST_CASE("what a list leaves out is noticed", "[core.memory_table]") {
  Memory memory;
  const std::vector<MemoryRegion> both{region(1, 100), region(2, 100)}, one{region(2, 100), region(3, 100)};
  CHECK_FALSE(memory.table.misses(kDev, one));
  memory.has(both);
  CHECK_FALSE(memory.table.misses(kDev, both));
  CHECK(memory.table.misses(kDev, one));
}

TEST_CASE("an owner without a name yet is asked about again", "[core.memory_table]") {
  Memory memory;
  memory.has({region(1, 100)});
  CHECK(memory.attribute_all(QpTable::Settled::no) == 1);
  CHECK(memory.attribute_all() == 0);
  memory.table.retry_unsettled();
  CHECK(memory.attribute_all() == 1);
  memory.has({});
  memory.table.retry_unsettled();
  CHECK(memory.attribute_all() == 0);
}
