// SPDX-License-Identifier: Apache-2.0
#include "core/devx_table.h"

#include <catch2/catch.hpp>

#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

constexpr TenantId kA = 2, kB = 3;
using Is = PortVerdict::Is;

struct Devx {
  PortOwners owners;
  DevxTable table{owners, 4};
  Devx() {
    owners.trust(kDev, {100});
    owners.trust(kOtherDev, {100});
  }
  void made(std::uint64_t handle, std::uint64_t at, DeviceIndex device = kDev, bool known = true) {
    table.apply(DevxObject{.at = {at}, .what = DevxObject::What::created, .device = device, .handle = {handle}, .number = {7}, .owner = {}},
                known ? owner_of_thread(100) : std::make_shared<const Owner>());
  }
  void gone(std::uint64_t handle, std::uint64_t at) {
    table.apply(DevxObject{.at = {at}, .what = DevxObject::What::destroyed, .device = kDev, .handle = {handle}, .number = {7}, .owner = {}}, nullptr);
  }
  std::size_t attribute_all(TenantId tenant, QpTable::Settled settled = QpTable::Settled::yes) {
    const auto waiting = table.take_waiting();
    for (const auto& one : waiting) table.attribute(one.key, one.owner, tenant, settled);
    return waiting.size();
  }
  PortVerdict asked(std::uint64_t from, std::uint64_t to, DeviceIndex device = kDev) const { return owners.verdict(device, {1}, {from}, {to}); }
};

}  // namespace

TEST_CASE("a DEVX object is its tenant's from its birth to its end", "[core.devx_table]") {
  Devx devx;
  devx.made(0x10, 110);
  CHECK(devx.asked(110, 120).is == Is::pending);
  CHECK(devx.attribute_all(kA) == 1);
  CHECK(devx.attribute_all(kA) == 0);
  CHECK(devx.asked(100, 109).is == Is::none);
  CHECK(devx.asked(110, 120) == PortVerdict{Is::sole, kA});
  CHECK(devx.table.counts() == std::map<std::pair<DeviceIndex, TenantId>, std::size_t>{{{kDev, kA}, 1}});
  devx.gone(0x10, 130);
  CHECK(devx.table.counts().empty());
  CHECK(devx.asked(120, 130) == PortVerdict{Is::sole, kA});
  CHECK(devx.asked(131, 140).is == Is::none);
  devx.gone(0x10, 140);  // never seen to come
  CHECK(devx.asked(131, 140).is == Is::none);
}

TEST_CASE("a handle that is given out again ends the one before", "[core.devx_table]") {
  Devx devx;
  devx.made(0x10, 110);
  devx.attribute_all(kA);
  devx.made(0x10, 120);
  CHECK(devx.table.size() == 1);
  devx.attribute_all(kB);
  CHECK(devx.asked(110, 119) == PortVerdict{Is::sole, kA});
  CHECK(devx.asked(121, 130) == PortVerdict{Is::sole, kB});
  devx.made(0x10, 130, kOtherDev);  // another device's
  CHECK(devx.table.size() == 2);
}

TEST_CASE("a DEVX object of nobody knows whom makes its port unknown", "[core.devx_table]") {
  Devx devx;
  devx.made(0x10, 110, kDev, false);
  CHECK(devx.attribute_all(kA) == 0);
  CHECK(devx.asked(110, 120).is == Is::unknown);
}

TEST_CASE("an unsettled tenant is asked for again, and was it always", "[core.devx_table]") {
  Devx devx;
  devx.made(0x10, 110);
  devx.attribute_all(kA, QpTable::Settled::no);
  CHECK(devx.attribute_all(kB) == 0);
  devx.table.retry_unsettled();
  CHECK(devx.attribute_all(kB) == 1);
  CHECK(devx.asked(110, 120) == PortVerdict{Is::sole, kB});
  devx.table.retry_unsettled();
  CHECK(devx.attribute_all(kB) == 0);
}

TEST_CASE("a DEVX object without room makes its device unknown for good", "[core.devx_table]") {
  Devx devx;
  for (std::uint64_t handle = 1; handle <= 5; ++handle) devx.made(handle, 110 + handle);
  CHECK(devx.table.size() == 4);
  for (std::uint64_t handle = 1; handle <= 4; ++handle) devx.gone(handle, 120);
  devx.owners.trust(kDev, {130});
  CHECK(devx.asked(140, 150).is == Is::unknown);
  CHECK(devx.asked(140, 150, kOtherDev).is == Is::none);
}

TEST_CASE("a context older than the probes counts as an object of its owner", "[core.devx_table]") {
  Devx devx;
  const std::vector<DevxTable::Context> two{{7, owner_of_thread(100)}, {8, owner_of_thread(100)}};
  devx.table.contexts(kDev, two, true, {110});
  CHECK(devx.table.has_contexts(kDev));
  CHECK_FALSE(devx.table.has_contexts(kOtherDev));
  CHECK(devx.attribute_all(kA) == 2);
  CHECK(devx.table.counts().empty());
  CHECK(devx.asked(110, 120) == PortVerdict{Is::sole, kA});
  // A later one is not older; its number may be a handle's.
  devx.table.contexts(kDev, {two[1], {9, owner_of_thread(200)}}, false, {130});
  CHECK(devx.attribute_all(kB) == 0);
  devx.made(8, 131);
  devx.gone(8, 132);
  CHECK(devx.attribute_all(kB) == 0);
  CHECK(devx.table.has_contexts(kDev));
  devx.table.contexts(kDev, {}, false, {140});
  CHECK_FALSE(devx.table.has_contexts(kDev));
  CHECK(devx.asked(133, 140) == PortVerdict{Is::sole, kA});
  CHECK(devx.asked(141, 150).is == Is::none);
}

TEST_CASE("what BPF told is dropped with BPF, what a device had with the device", "[core.devx_table]") {
  Devx devx;
  devx.made(0x10, 110);
  devx.made(0x10, 110, kOtherDev);
  devx.table.drop_device(kDev);
  CHECK(devx.table.size() == 1);
  devx.table.clear();
  CHECK(devx.table.size() == 0);
  CHECK(devx.owners.in_doubt(kOtherDev));
  CHECK(devx.table.take_waiting().empty());
  devx.owners.trust(kOtherDev, {120});
  CHECK(devx.asked(120, 130, kOtherDev).is == Is::none);
}
