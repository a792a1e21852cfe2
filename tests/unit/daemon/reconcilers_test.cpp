// SPDX-License-Identifier: Apache-2.0
// The threads; what a pass does is in reconciler_test.cpp.
#include "reconcilers.h"

#include <catch2/catch.hpp>
#include <set>

#include "clock.h"
#include "support/fake_host.h"
#include "support/fake_qp_source.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

// A kernel that several threads ask, some of which hang until they are let go.
class HangingKernel {
 public:
  std::unique_ptr<QpSource> session() {
    class Session : public QpSource {
     public:
      explicit Session(HangingKernel& kernel) : kernel_(kernel) {}
      Result<std::vector<std::pair<DeviceIndex, std::string>>> devices() override {
        const std::lock_guard lock(kernel_.mutex);
        return kernel_.fake.devices();
      }
      Result<std::unique_ptr<QpDumping>> dump(DeviceIndex device) override {
        const auto lock = kernel_.wait(device);
        return kernel_.fake.dump(device);
      }
      Result<QpRow> get(DeviceIndex device, PortNum port, QpType type, Qpn qpn) override {
        const auto lock = kernel_.wait(device);
        return kernel_.fake.get(device, port, type, qpn);
      }
      Result<std::uint32_t> count(DeviceIndex device) override {
        const auto lock = kernel_.wait(device);
        return kernel_.fake.count(device);
      }
      void close() override {}

     private:
      HangingKernel& kernel_;
    };
    return std::make_unique<Session>(*this);
  }
  void hang(DeviceIndex device, bool on) {
    const std::lock_guard lock(mutex);
    if (on) {
      hanging.insert(device);
    } else {
      hanging.erase(device);
    }
    changed.notify_all();
  }
  bool stuck() {
    const std::lock_guard lock(mutex);
    return waiting > 0;
  }

  std::mutex mutex;
  FakeQpSource fake;

 private:
  std::unique_lock<std::mutex> wait(DeviceIndex device) {
    std::unique_lock lock(mutex);
    ++waiting;
    changed.wait(lock, [&] { return !hanging.contains(device); });
    --waiting;
    return lock;
  }
  std::condition_variable changed;
  std::set<DeviceIndex> hanging;
  int waiting = 0;
};

struct Threads {
  HangingKernel kernel;
  QpTable table{1000};
  std::mutex mutex;
  SelfCheck self_check{true};
  Reconcilers reconcilers{table,
                          mutex,
                          self_check,
                          {},
                          {.now = boot_now,
                           .drain = [] {},
                           .attribute = [](const QpRow& one) { return std::pair(owner_of_thread(one.tid.value), TenantId{1}); },
                           .events_on = [] { return true; },
                           .events_lost = [] { return 0; },
                           .suspicions = [](const std::string&) { return std::vector<Suspicion>(); },
                           .found_dead = [](const std::string&, const QpRecord&, BootTime, std::optional<BootTime>) {}},
                          {.source = [this] { return kernel.session(); },
                           .watched = [](const std::string&) { return true; },
                           .budget = [](const std::string&) { return std::make_shared<CommandBudget>(0); },
                           .ticked = [] {}}};

  Threads() {
    kernel.fake.names = {{kDev, "mlx5_0"}, {kOtherDev, "mlx5_1"}};
    kernel.fake.rows[kDev].push_back(row(17));
    kernel.fake.rows[kOtherDev].push_back(row(18));
  }
  ~Threads() { kernel.hang(kDev, false); }
  void start() { reconcilers.start(2); }
  std::optional<QpState> state(DeviceIndex device, std::uint32_t qpn) {
    const std::lock_guard lock(mutex);
    const QpRecord* found = table.holder(device, QpType::rc, {qpn}, {1});
    return found ? found->state : std::nullopt;
  }
};

}  // namespace

TEST_CASE("a device that hangs from the start takes only itself away, and is named at the end", "[daemon.reconcilers]") {
  Threads t;
  t.kernel.hang(kDev, true);
  t.start();
  CHECK(becomes_true([&] { return t.state(kOtherDev, 18) == QpState::rts; }));
  CHECK(t.reconcilers.listed());
  CHECK_FALSE(t.reconcilers.seeded());
  CHECK(t.reconcilers.devices().size() == 2);
  {
    const std::lock_guard lock(t.kernel.mutex);
    t.kernel.fake.find(kOtherDev, 18)->state = QpState::err;
  }
  CHECK(becomes_true([&] { return t.state(kOtherDev, 18) == QpState::err; }));
  CHECK_FALSE(t.state(kDev, 17));
  CHECK(t.reconcilers.stop(0.2) == std::vector<std::string>{"mlx5_0: its netlink reader"});
  t.kernel.hang(kDev, false);
  CHECK(t.reconcilers.stop(10).empty());
}

TEST_CASE("a device that goes while it hangs leaves nothing behind when it comes round", "[daemon.reconcilers]") {
  Threads t;
  t.kernel.hang(kDev, true);
  t.start();
  REQUIRE(becomes_true([&] { return t.kernel.stuck() && t.state(kOtherDev, 18); }));
  {
    const std::lock_guard lock(t.kernel.mutex);
    t.kernel.fake.names.erase(kDev);
  }
  CHECK(becomes_true([&] { return t.reconcilers.devices().size() == 1; }));
  CHECK(t.reconcilers.seeded());
  CHECK(t.reconcilers.stop(0.2).size() == 1);
  t.kernel.hang(kDev, false);
  CHECK(t.reconcilers.stop(10).empty());
  CHECK_FALSE(t.state(kDev, 17));
  CHECK(t.table.size() == 1);
}

TEST_CASE("without netlink there is nothing to wait for", "[daemon.reconcilers]") {
  Threads t;
  t.kernel.fake.failing["devices"] = io_error("netlink", EPROTONOSUPPORT);
  t.start();
  CHECK(becomes_true([&] { return t.reconcilers.listed(); }));
  CHECK(t.reconcilers.seeded());
  CHECK(t.reconcilers.stop(10).empty());
}
