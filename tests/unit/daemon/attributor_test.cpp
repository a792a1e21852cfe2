// SPDX-License-Identifier: Apache-2.0
#include "attributor.h"

#include <catch2/catch.hpp>
#include <future>

#include "support/fake_host.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

// Names the owner's process; pods of odd processes are not named yet.
class ByProcess : public TenantResolver {
 public:
  std::string_view name() const override { return "by_process"; }
  std::optional<Attribution> resolve(const Owner& owner) override {
    ++*asked;
    const bool named = *all_named || owner.tgid.value % 2 == 0;
    return Attribution{
        .tenant = {.tenant = "t", .workload = std::to_string(owner.tgid.value)}, .k8s_pod = named ? "pod" : "", .settled = named};
  }
  std::shared_ptr<int> asked = std::make_shared<int>(0);
  std::shared_ptr<std::atomic<bool>> all_named = std::make_shared<std::atomic<bool>>(false);
};

struct Bench {
  QpTable table{1000};
  DevxTable devx{table.owners()};
  MemoryTable memory;
  std::mutex table_mutex;
  FakeClock clock;
  std::shared_ptr<int> asked;
  std::shared_ptr<std::atomic<bool>> all_named;
  TenantMap tenants{resolvers(), 100};
  std::atomic<int> looked = 0;
  Attributor attributor{table, devx, memory, table_mutex, tenants, clock.fn(), [this](const Owner& owner, BootTime) { return ++looked, owner; }};

  std::vector<std::unique_ptr<TenantResolver>> resolvers() {
    auto source = std::make_unique<ByProcess>();
    asked = source->asked;
    all_named = source->all_named;
    std::vector<std::unique_ptr<TenantResolver>> out;
    out.push_back(std::move(source));
    return out;
  }
  void make(std::uint64_t serial, std::uint32_t process) {
    const std::lock_guard lock(table_mutex);
    create(table, {.serial = serial, .qpn = static_cast<std::uint32_t>(serial)}, serial, 0, process);
  }
  std::string workload(std::uint64_t serial) {
    const std::lock_guard lock(table_mutex);
    return tenants.tenants()->at(table.find({kDev, {serial}})->tenant).workload;
  }
};

}  // namespace

TEST_CASE("one look at a process for all of its queue pairs", "[daemon.attributor]") {
  Bench bench;
  for (std::uint64_t serial = 1; serial <= 50; ++serial) bench.make(serial, serial <= 30 ? 100 : 200);
  bench.attributor.pass();
  CHECK(bench.looked == 2);
  CHECK(*bench.asked == 2);
  CHECK(bench.workload(1) == "100");
  CHECK(bench.workload(50) == "200");
  CHECK(bench.table.find({kDev, {1}})->owner == bench.table.find({kDev, {30}})->owner);
  CHECK(bench.table.find({kDev, {1}})->owner->k8s_pod == "pod");
  bench.attributor.pass();
  CHECK(bench.looked == 2);
}

TEST_CASE("DEVX objects get their tenants with the queue pairs", "[daemon.attributor]") {
  Bench bench;
  bench.make(1, 10);
  bench.devx.apply(DevxObject{.at = {2}, .device = kDev, .handle = {0x10}, .number = {1}, .owner = {}}, owner_of_thread(10));
  bench.devx.apply(DevxObject{.at = {2}, .device = kDev, .handle = {0x11}, .number = {2}, .owner = {}}, owner_of_thread(11));
  bench.attributor.pass();
  CHECK(bench.looked == 2);  // process 10 has both kinds
  const TenantId of_queue_pair = bench.table.all().front().tenant;
  CHECK(bench.devx.counts().size() == 2);
  CHECK(bench.devx.counts().contains({kDev, of_queue_pair}));
  bench.devx.retry_unsettled();
  bench.attributor.pass();
  CHECK(*bench.asked == 3);  // only the odd process has no settled name
}

TEST_CASE("what is not settled is asked again", "[daemon.attributor]") {
  Bench bench;
  bench.make(1, 101);
  bench.attributor.pass();
  CHECK(bench.workload(1) == "101");
  CHECK(bench.table.find({kDev, {1}})->owner->k8s_pod.empty());
  *bench.all_named = true;
  bench.attributor.pass();
  CHECK(bench.looked == 1);
  bench.table.retry_unsettled();
  bench.attributor.pass();
  CHECK(bench.table.find({kDev, {1}})->owner->k8s_pod == "pod");
}

TEST_CASE("the thread names who comes, and ends when asked", "[daemon.attributor]") {
  Bench bench;
  bench.attributor.start({});
  CHECK(bench.attributor.idle());
  bench.make(1, 100);
  bench.attributor.wake();
  CHECK(becomes_true([&] { return bench.attributor.idle(); }));
  CHECK(bench.workload(1) == "100");
  CHECK(bench.attributor.stop(10));
}

TEST_CASE("a source that hangs holds up nobody, and is told of at the end", "[daemon.attributor]") {
  std::promise<void> release;
  Bench bench;
  std::atomic<bool> entered = false;
  Attributor attributor(bench.table, bench.devx, bench.memory, bench.table_mutex, bench.tenants, bench.clock.fn(), [&](const Owner& owner, BootTime) {
    entered = true;
    release.get_future().wait();
    return owner;
  });
  attributor.start({});
  bench.make(1, 100);
  attributor.wake();
  REQUIRE(becomes_true([&] { return entered.load(); }));
  CHECK_FALSE(attributor.idle());
  bench.make(2, 100);  // the table and the names are free
  CHECK(bench.tenants.tenants()->size() == 2);
  attributor.wake();
  CHECK_FALSE(attributor.stop(0.01));
  release.set_value();
  CHECK(attributor.stop(10));
}
