// SPDX-License-Identifier: Apache-2.0
// Random hosts: queue pairs come, get a port, get their tenant sooner or later or never, get another one, go. What the table's timeline says
// of any interval must be what a list of all lives says that forgets nothing.
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <vector>

#include "core/port_owners.h"
#include "core/qp_table.h"
#include "core/tenant_map.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

using Is = PortVerdict::Is;

class RandomHost {
 public:
  explicit RandomHost(unsigned seed, TenantId tenants) : random_(seed), tenants_(tenants) { table_.owners().trust(kDev, {0}); }

  void step() {
    now_ += 1 + random_() % 3;
    switch (random_() % 8) {
      case 0:
      case 1:
        return make();
      case 2:
        return set_port();
      case 3:
      case 4:
        return attribute();
      case 5:
        return rename();
      default:
        return end();
    }
  }

  // False: the timeline has forgotten that time.
  bool check() {
    const std::uint64_t from = random_() % (now_ + 1), to = from + random_() % 40;
    const PortNum port{1 + static_cast<std::uint32_t>(random_() % 2)};
    const PortVerdict told = table_.owners().verdict(kDev, port, {from}, {to}), right = model(port, from, to);
    if (told.is == Is::unknown && right.is != Is::unknown) return false;
    CAPTURE(from, to, port.value);
    REQUIRE(static_cast<int>(told.is) == static_cast<int>(right.is));
    if (right.is == Is::sole) REQUIRE(told.tenant == right.tenant);
    return true;
  }

 private:
  struct Life {
    Who who;
    std::uint64_t since = 0;
    std::optional<std::uint64_t> to;
    std::optional<TenantId> tenant;
    bool settled = false;
  };

  PortVerdict model(PortNum port, std::uint64_t from, std::uint64_t to) const {
    std::set<TenantId> tenants;
    bool pending = false, nobody = false;
    for (const Life& life : lives_) {
      if (life.who.port != port.value || life.since > to || life.to.value_or(to) < from) continue;
      if (life.tenant == TenantMap::kUnknown || (!life.tenant && life.to)) {
        nobody = true;
      } else if (life.tenant) {
        tenants.insert(*life.tenant);
      } else {
        pending = true;
      }
    }
    if (nobody) return {};
    if (tenants.size() > 1) return {Is::shared, 0};
    if (pending) return {Is::pending, 0};
    return tenants.empty() ? PortVerdict{Is::none, 0} : PortVerdict{Is::sole, *tenants.begin()};
  }

  TenantId some_tenant() { return random_() % 16 == 0 ? TenantMap::kUnknown : 2 + static_cast<TenantId>(random_() % tenants_); }

  template <class Which>
  Life* pick(Which which) {
    std::vector<Life*> found;
    for (Life& life : lives_) {
      if (!life.to && which(life)) found.push_back(&life);
    }
    return found.empty() ? nullptr : found[random_() % found.size()];
  }

  void make() {
    Life life{.who = {.serial = ++serials_, .qpn = static_cast<std::uint32_t>(serials_)}, .to = {}, .tenant = {}};
    create(table_, life.who, now_);
    lives_.push_back(life);
  }
  void set_port() {
    Life* life = pick([](const Life& one) { return one.who.port == 0; });
    if (!life) return;
    life->who.port = 1 + static_cast<std::uint32_t>(random_() % 2);
    life->since = now_;
    modify(table_, life->who, QpState::init, now_);
  }
  void say(Life& life) { table_.attribute(life.who.key(), owner_of_thread(100), *life.tenant, life.settled ? QpTable::Settled::yes : QpTable::Settled::no); }
  void attribute() {
    Life* life = pick([](const Life& one) { return !one.tenant; });
    if (!life) return;
    life->tenant = some_tenant();
    life->settled = random_() % 2 == 0;
    say(*life);
  }
  void rename() {
    Life* life = pick([](const Life& one) { return one.tenant && !one.settled; });
    if (!life) return;
    life->tenant = some_tenant();
    life->settled = random_() % 2 == 0;
    say(*life);
  }
  void end() {
    Life* life = pick([](const Life&) { return true; });
    if (!life) return;
    life->to = now_;
    destroy(table_, life->who, now_);
  }

  std::mt19937 random_;
  TenantId tenants_;
  std::uint64_t now_ = 0, serials_ = 0;
  std::vector<Life> lives_;
  QpTable table_{1000};
};

}  // namespace

TEST_CASE("the timeline says what a list of all lives says", "[core.port_owners_model]") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    RandomHost host(seed, 1 + seed % 3);
    for (int i = 0; i < 60; ++i) {
      host.step();
      REQUIRE(host.check());  // so few lives that none is forgotten
    }
  }
}

TEST_CASE("a timeline that had to forget says nothing wrong", "[core.port_owners_model]") {
  int remembered = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    RandomHost host(seed, 1 + seed % 3);
    for (int i = 0; i < 1500; ++i) {
      host.step();
      remembered += host.check() ? 1 : 0;
    }
  }
  CHECK(remembered > 1000);
}
