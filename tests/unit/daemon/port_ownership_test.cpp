// SPDX-License-Identifier: Apache-2.0
#include "port_ownership.h"

#include <catch2/catch.hpp>

#include "support/fake_clock.h"
#include "support/qp_events.h"
#include "unit/collectors/host/temp_tree.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

using Is = PortVerdict::Is;
using Verdict = Ownership::Verdict;

// Tenants are called by the owner's thread.
class ByThread : public TenantResolver {
 public:
  std::string_view name() const override { return "by_thread"; }
  std::optional<Attribution> resolve(const Owner& owner) override {
    return Attribution{.tenant = {.tenant = "t" + std::to_string(owner.tid.value), .workload = "w"}, .k8s_pod = {}, .k8s_container = {}};
  }
};

std::vector<std::unique_ptr<TenantResolver>> resolvers() {
  std::vector<std::unique_ptr<TenantResolver>> out;
  out.push_back(std::make_unique<ByThread>());
  return out;
}

// Two mlx5 devices, a physical function and its virtual one, and what the kernel says of them.
struct Site {
  TempTree tree;
  Sysroot root = Sysroot::open(tree.path()).value();
  FakeClock clock;
  QpTable table{1000};
  DevxTable devx{table.owners()};
  std::mutex table_mutex;
  TenantMap tenants{resolvers(), 100};
  std::map<DeviceIndex, std::string> devices{{kDev, "mlx5_0"}};
  std::string driver = "mlx5_core";
  bool reliable = true, devx_seen = true;
  std::uint64_t missed = 1;
  std::optional<BootTime> as_of;  // else now
  std::function<void()> drained;
  std::map<DeviceIndex, std::uint32_t> counts;
  std::vector<DevxTable::Context> contexts;
  std::optional<Error> trouble;
  PortOwnership ownership{root, table, devx, table_mutex, tenants, hooks()};

  Site() {
    tree.folder(pci(0));
    device("mlx5_0", 0);
    counts[kDev] = counts[kOtherDev] = 0;
  }
  PortOwnership::Hooks hooks() {
    return {.now = clock.fn(),
            .drain = [this] { if (drained) drained(); },
            .missed = [this] { return PortOwnership::Hooks::Missed{missed, as_of.value_or(clock.now())}; },
            .reliable = [this] { return reliable; },
            .devx_seen = [this] { return devx_seen; },
            .count = [this](DeviceIndex device) -> Result<std::uint32_t> {
              if (trouble) return std::unexpected(*trouble);
              return counts.at(device);
            },
            .contexts = [this](DeviceIndex) -> Result<std::vector<DevxTable::Context>> {
              if (trouble) return std::unexpected(*trouble);
              return contexts;
            },
            .driver = [this](const std::string&) -> Result<std::string> { return driver; }};
  }
  static std::string pci(int function) { return "sys/devices/pci0000:5e/0000:5e:00." + std::to_string(function); }
  void device(const std::string& name, int function) const {
    tree.folder(pci(function) + "/infiniband/" + name + "/ports/1");
    tree.link(pci(function) + "/infiniband/" + name + "/device", "../..");
    tree.link("sys/class/infiniband/" + name, "../../../" + pci(function) + "/infiniband/" + name);
    tree.link("sys/bus/pci/devices/0000:5e:00." + std::to_string(function), "../../../../" + pci(function));
  }
  void virtual_function() const {
    tree.folder(pci(2));
    tree.link(pci(2) + "/physfn", "../0000:5e:00.0");
    tree.link(pci(0) + "/virtfn0", "../0000:5e:00.2");
  }

  BootTime later() { return clock.fn()(); }
  // A queue pair of that thread's, counted by the kernel too.
  Who qp(std::uint32_t serial, std::uint32_t tid, DeviceIndex device = kDev) {
    Who who{.serial = serial, .qpn = serial, .device = device};
    create(table, who, later().value, 0, tid);
    who.port = 1;
    modify(table, who, QpState::init, later().value);
    ++counts[device];
    return who;
  }
  void attribute() {
    for (const auto& one : table.take_waiting()) table.attribute(one.key, one.owner, tenants.resolve(*one.owner, later()).id);
    for (const auto& one : devx.take_waiting()) devx.attribute(one.key, one.owner, tenants.resolve(*one.owner, later()).id, QpTable::Settled::yes);
  }
  void survey() { ownership.survey(devices); }
  Verdict asked(BootTime from, BootTime to, const std::string& device = "mlx5_0") { return ownership.sole_owner(device, {1}, from, to); }
};

Verdict sole(std::uint32_t tid) { return {Is::sole, "t" + std::to_string(tid), "w"}; }

}  // namespace

TEST_CASE("a port is a tenant's own once a survey has seen the interval", "[daemon.port_ownership]") {
  Site site;
  const BootTime start = site.later();
  site.survey();
  const BootTime from = site.later();
  CHECK(site.asked(start, from).is == Is::unknown);  // before the first survey
  site.qp(1, 100);
  site.attribute();
  const BootTime to = site.later();
  CHECK(site.asked(from, to).is == Is::pending);
  site.survey();
  CHECK(site.asked(from, to) == sole(100));
  CHECK(site.asked(from, site.later()).is == Is::pending);
  CHECK(site.asked(from, to, "mlx5_7").is == Is::unknown);
  CHECK(site.ownership.sole_owner("mlx5_0", {2}, from, to).is == Is::unknown);
  site.qp(2, 200);
  site.attribute();
  CHECK(site.asked(from, site.later()).is == Is::shared);  // that will not change
  CHECK(site.asked(from, to) == sole(100));
}

TEST_CASE("what is decided reaches to where losses were asked for", "[daemon.port_ownership]") {
  Site site;
  site.survey();
  const BootTime from = site.later();
  site.qp(1, 100);
  site.attribute();
  site.as_of = site.later();
  const BootTime after = site.later();
  site.survey();
  CHECK(site.asked(from, *site.as_of) == sole(100));
  CHECK(site.asked(from, after).is == Is::pending);
}

TEST_CASE("after a loss the devices are compared with the kernel", "[daemon.port_ownership]") {
  Site site;
  site.qp(1, 100);
  site.attribute();
  site.survey();
  const BootTime from = site.later();
  site.survey();
  const BootTime to = site.later();
  site.survey();
  CHECK(site.asked(from, to) == sole(100));
  ++site.missed;
  ++site.counts[kDev];
  site.survey();
  CHECK(site.asked(from, to).is == Is::unknown);
  const BootTime doubtful = site.later();
  site.survey();
  CHECK(site.asked(doubtful, doubtful).is == Is::unknown);
  --site.counts[kDev];
  site.survey();
  const BootTime again = site.later();
  site.survey();
  CHECK(site.asked(again, again) == sole(100));
  CHECK(site.asked(doubtful, again).is == Is::unknown);
}

TEST_CASE("without events, and where netlink says nothing, all is unknown", "[daemon.port_ownership]") {
  Site site;
  site.trouble = Error{ErrorCode::io, 5, "no"};
  site.survey();
  site.survey();
  CHECK(site.asked(site.later(), site.clock.now()).is == Is::unknown);
  site.trouble.reset();
  site.survey();
  const BootTime from = site.later();
  site.survey();
  CHECK(site.asked(from, from).is == Is::none);
  site.reliable = false;
  site.survey();
  CHECK(site.asked(from, from).is == Is::unknown);
}

TEST_CASE("all functions of the physical port count", "[daemon.port_ownership]") {
  Site site;
  site.survey();
  const BootTime before = site.later();
  site.qp(1, 100);
  site.attribute();
  site.survey();
  CHECK(site.asked(before, before).is == Is::none);
  // A virtual function that goes to a guest, and one that gets a device here.
  site.virtual_function();
  site.survey();
  const BootTime strange = site.later();
  site.survey();
  CHECK(site.asked(strange, strange).is == Is::unknown);
  site.device("mlx5_2", 2);
  site.devices[kOtherDev] = "mlx5_2";
  site.survey();
  const BootTime from = site.later();
  CHECK(site.asked(strange, from).is == Is::unknown);
  const Who other = site.qp(2, 100, kOtherDev);
  site.attribute();
  BootTime to = site.later();
  site.survey();
  CHECK(site.asked(from, to) == sole(100));
  CHECK(site.asked(from, to, "mlx5_2") == sole(100));
  destroy(site.table, other, site.later().value);
  site.qp(3, 200, kOtherDev);
  site.attribute();
  to = site.later();
  site.survey();
  CHECK(site.asked(from, to).is == Is::shared);
  CHECK(site.asked(from, to, "mlx5_2").is == Is::shared);
  // It goes: its queue pairs are gone with it, and the port looks different from now on.
  site.devices.erase(kOtherDev);
  site.survey();
  CHECK(site.asked(from, to).is == Is::unknown);
}

TEST_CASE("a port that looks right again was not right before", "[daemon.port_ownership]") {
  Site site;
  site.survey();
  site.virtual_function();
  site.survey();
  const BootTime strange = site.later();
  std::filesystem::remove(site.tree.at(Site::pci(0) + "/virtfn0"));
  site.survey();
  const BootTime from = site.later();
  site.survey();
  CHECK(site.asked(strange, from).is == Is::unknown);
  CHECK(site.asked(from, from).is == Is::none);
}

TEST_CASE("what is delivered by the survey itself may show that events are not to be trusted", "[daemon.port_ownership]") {
  Site site;
  site.survey();
  site.qp(1, 100);
  site.attribute();
  const BootTime from = site.later(), to = site.later();
  site.drained = [&] { site.reliable = false; };
  site.survey();
  CHECK(site.asked(from, to).is == Is::unknown);
}

TEST_CASE("what DEVX makes counts, and where it is not seen mlx5 is unknown", "[daemon.port_ownership]") {
  Site site;
  site.survey();
  const BootTime from = site.later();
  site.qp(1, 100);
  const auto devx = [&](std::uint32_t tid) {
    site.devx.apply(DevxObject{.at = site.later(), .what = DevxObject::What::created, .device = kDev, .handle = {tid}, .number = {7}, .owner = {}},
                    owner_of_thread(tid));
    site.attribute();
  };
  devx(100);
  const BootTime own = site.later();
  devx(200);
  const BootTime to = site.later();
  site.survey();
  CHECK(site.asked(from, own) == sole(100));
  CHECK(site.asked(from, to).is == Is::shared);

  for (const std::string driver : {"mlx5_core", "bnxt_en"}) {
    Site blind;
    blind.driver = driver;
    blind.devx_seen = false;
    blind.survey();
    const BootTime at = blind.later();
    blind.survey();
    CHECK((blind.asked(at, at).is == Is::unknown) == (driver == "mlx5_core"));
  }
}

TEST_CASE("a context older than the probes belongs to who opened it", "[daemon.port_ownership]") {
  Site site;
  site.contexts = {{7, owner_of_thread(200)}};
  site.qp(1, 100);
  site.attribute();
  site.survey();
  site.attribute();
  const BootTime from = site.later();
  site.survey();
  CHECK(site.asked(from, from).is == Is::shared);
  site.contexts = {{9, owner_of_thread(300)}};  // later than the probes
  site.survey();
  const BootTime to = site.later();
  site.survey();
  CHECK(site.asked(to, to) == sole(100));
  // Another set of probes: what exists is older than these.
  ++site.missed;
  site.survey();
  site.attribute();
  const BootTime again = site.later();
  site.survey();
  CHECK(site.asked(again, again).is == Is::shared);
}

TEST_CASE("a device with another name was not known under this one", "[daemon.port_ownership]") {
  Site site;
  site.survey();
  const BootTime from = site.later();
  site.survey();
  CHECK(site.asked(from, from).is == Is::none);
  site.device("renamed", 1);
  site.devices[kDev] = "renamed";
  site.survey();
  CHECK(site.asked(from, from).is == Is::unknown);
  CHECK(site.asked(from, from, "renamed").is == Is::unknown);
}
