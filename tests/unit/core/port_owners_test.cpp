// SPDX-License-Identifier: Apache-2.0
#include "core/port_owners.h"

#include <catch2/catch.hpp>

#include "core/tenant_map.h"

using namespace qpscope;

namespace {

constexpr TenantId kA = 2, kB = 3;
constexpr PortNum kPort1{1}, kPort2{2};
using Is = PortVerdict::Is;
using Final = PortOwners::Final;

const PortVerdict kNone{Is::none, 0}, kShared{Is::shared, 0}, kPending{Is::pending, 0}, kUnknownNow{Is::unknown, 0};
PortVerdict sole(TenantId tenant) { return {Is::sole, tenant}; }

QpKey qp(std::uint64_t serial) { return {DeviceIndex{7}, {serial}}; }

struct Owners : PortOwners {
  Owners() { trust({7}, {100}); }
  void lives(std::uint64_t serial, TenantId tenant, std::uint64_t from, std::optional<std::uint64_t> to = {}, Final final = Final::yes) {
    begins(qp(serial), kPort1, {from});
    owned(qp(serial), tenant, final);
    if (to) ends(qp(serial), {*to});
  }
  PortVerdict asked(std::uint64_t from, std::uint64_t to, PortNum port = kPort1) const { return verdict({7}, port, {from}, {to}); }
};

}  // namespace

TEST_CASE("a port without queue pairs is nobody's, one that nobody looked at is unknown", "[core.port_owners]") {
  Owners owners;
  CHECK(owners.asked(100, 200) == kNone);
  CHECK(owners.asked(99, 200) == kUnknownNow);
  CHECK(owners.verdict({8}, kPort1, {100}, {200}) == kUnknownNow);
}

TEST_CASE("the port is a tenant's while all queue pairs are", "[core.port_owners]") {
  Owners owners;
  owners.lives(1, kA, 110);
  owners.lives(2, kA, 120, 150);
  CHECK(owners.asked(130, 140) == sole(kA));
  CHECK(owners.asked(100, 109) == kNone);
  CHECK(owners.asked(100, 110) == sole(kA));
  owners.lives(3, kB, 200, 210);
  CHECK(owners.asked(130, 199) == sole(kA));
  CHECK(owners.asked(130, 200) == kShared);
  CHECK(owners.asked(210, 220) == kShared);
  CHECK(owners.asked(211, 220) == sole(kA));
}

TEST_CASE("one that lives and dies between two reads counts", "[core.port_owners]") {
  Owners owners;
  owners.lives(1, kA, 110);
  owners.lives(2, kB, 150, 151);
  CHECK(owners.asked(120, 200) == kShared);
  CHECK(owners.asked(120, 149) == sole(kA));
  CHECK(owners.asked(152, 200) == sole(kA));
}

TEST_CASE("a port is not its neighbour, but what has no port is on every one", "[core.port_owners]") {
  Owners owners;
  owners.lives(1, kA, 110);
  CHECK(owners.asked(120, 130, kPort2) == kNone);
  owners.begins(qp(2), PortOwners::kEveryPort, {120});
  owners.owned(qp(2), kB, Final::yes);
  CHECK(owners.asked(110, 119) == sole(kA));
  CHECK(owners.asked(120, 130) == kShared);
  CHECK(owners.asked(120, 130, kPort2) == sole(kB));
}

TEST_CASE("a queue pair that changes its port was on both", "[core.port_owners]") {
  Owners owners;
  owners.lives(1, kA, 110);
  owners.begins(qp(1), kPort2, {150});
  CHECK(owners.asked(110, 150) == sole(kA));
  CHECK(owners.asked(151, 160) == kNone);
  CHECK(owners.asked(110, 149, kPort2) == kNone);
  CHECK(owners.asked(150, 160, kPort2) == sole(kA));
  owners.begins(qp(1), kPort2, {170});  // it is there
  owners.ends(qp(1), {180});
  CHECK(owners.asked(150, 160, kPort2) == sole(kA));
  CHECK(owners.asked(181, 190, kPort2) == kNone);
}

TEST_CASE("until the tenant is known the answer is pending, unless two are known already", "[core.port_owners]") {
  Owners owners;
  owners.begins(qp(1), kPort1, {110});
  CHECK(owners.asked(100, 109) == kNone);
  CHECK(owners.asked(100, 110) == kPending);
  owners.lives(2, kA, 120);
  CHECK(owners.asked(120, 130).is == Is::pending);
  owners.lives(3, kB, 140);
  CHECK(owners.asked(120, 139).is == Is::pending);
  CHECK(owners.asked(120, 140) == kShared);
  owners.owned(qp(1), kA, Final::yes);
  CHECK(owners.asked(110, 139) == sole(kA));
}

TEST_CASE("events may come a little out of order", "[core.port_owners]") {
  Owners owners;
  owners.lives(1, kA, 110, 200, Final::no);
  owners.lives(2, kA, 120, 190, Final::no);
  owners.lives(3, kB, 210, 209);
  CHECK(owners.asked(195, 205) == sole(kA));
  CHECK(owners.asked(205, 210) == sole(kB));
}

TEST_CASE("another name for the same owner goes back to the beginning", "[core.port_owners]") {
  Owners owners;
  owners.lives(1, kA, 110, {}, Final::no);
  CHECK(owners.asked(110, 120) == sole(kA));
  owners.owned(qp(1), kB, Final::yes);
  CHECK(owners.asked(110, 120) == sole(kB));
  owners.owned(qp(1), kA, Final::yes);  // told as final, and told anew
  CHECK(owners.asked(110, 120) == sole(kA));
  owners.ends(qp(1), {130});
  CHECK(owners.asked(110, 130) == sole(kA));
}

TEST_CASE("nobody knows whose a queue pair was that died without a tenant", "[core.port_owners]") {
  Owners owners;
  owners.lives(1, kA, 110);
  owners.begins(qp(2), kPort1, {120});
  owners.ends(qp(2), {130});
  owners.owned(qp(2), kA, Final::yes);  // too late
  CHECK(owners.asked(110, 119) == sole(kA));
  CHECK(owners.asked(110, 120) == kUnknownNow);
  CHECK(owners.asked(131, 140) == sole(kA));
  owners.lives(3, kA, 150, 160, Final::no);
  CHECK(owners.asked(140, 170) == sole(kA));
}

TEST_CASE("unknown and other are nobody", "[core.port_owners]") {
  for (const TenantId nobody : {TenantMap::kUnknown, TenantMap::kOther}) {
    Owners owners;
    owners.lives(1, nobody, 110);
    CHECK(owners.asked(110, 120) == kUnknownNow);
    owners.lives(2, kA, 110);
    CHECK(owners.asked(110, 120) == kUnknownNow);
  }
}

TEST_CASE("doubt forgets what was, trust begins anew", "[core.port_owners]") {
  Owners owners;
  owners.lives(1, kA, 110);
  owners.lives(2, kB, 110, 120);
  owners.doubt({7});
  CHECK(owners.in_doubt({7}));
  CHECK(owners.asked(130, 140) == kUnknownNow);
  owners.trust({7}, {150});
  CHECK(owners.asked(149, 160) == kUnknownNow);
  CHECK(owners.asked(150, 160) == sole(kA));
  owners.trust({7}, {170});  // it is trusted already
  CHECK(owners.asked(150, 160) == sole(kA));
  owners.doubt_all();
  owners.trust({7}, {200});
  owners.forfeit({7});
  owners.trust({7}, {300});
  CHECK(owners.asked(310, 320) == kUnknownNow);
  owners.drop_device({7});
  owners.trust({7}, {400});
  CHECK(owners.asked(400, 410) == kNone);
}

TEST_CASE("a queue pair that is forgotten was never there", "[core.port_owners]") {
  Owners owners;
  owners.lives(1, kA, 110);
  owners.lives(2, kB, 110);
  owners.forget(qp(2));
  CHECK(owners.asked(110, 120) == sole(kA));
  owners.ends(qp(2), {130});
  CHECK(owners.asked(110, 140) == sole(kA));
}

TEST_CASE("of lives that ended only so many times are kept, before them all is unknown", "[core.port_owners]") {
  Owners owners;
  for (std::uint64_t i = 0; i < PortOwners::kMostSpans; ++i) owners.lives(i + 1, kA, 1000 + 10 * i, 1005 + 10 * i);
  CHECK(owners.asked(100, 5000) == sole(kA));
  owners.lives(1000, kA, 3000, 3005);
  CHECK(owners.asked(1005, 5000) == kUnknownNow);
  CHECK(owners.asked(1006, 5000) == sole(kA));
  CHECK(owners.asked(1006, 1009) == kNone);
  // Lives of one tenant that meet are one time.
  for (std::uint64_t i = 0; i < 2 * PortOwners::kMostSpans; ++i) owners.lives(2000 + i, kA, 4000 + i, 4001 + i);
  CHECK(owners.asked(1015, 5000) == kUnknownNow);
  CHECK(owners.asked(1016, 5000) == sole(kA));
}

TEST_CASE("tenants that a verdict may name are known", "[core.port_owners]") {
  Owners owners;
  owners.lives(1, kA, 110, 120);
  CHECK(owners.tenants() == std::vector<TenantId>{kA});
  owners.lives(2, kB, 110, {}, Final::no);
  CHECK(owners.tenants().size() == 2);
  owners.owned(qp(2), kB, Final::yes);
  CHECK(owners.tenants().size() == 2);
}

TEST_CASE("verdicts add up in any order", "[core.port_owners]") {
  const std::vector<PortVerdict> all{kNone, sole(kA), sole(kB), kShared, kPending, {Is::pending, kA}, kUnknownNow};
  for (const PortVerdict& a : all) {
    CHECK(a + kNone == a);
    CHECK(a + a == a);
    for (const PortVerdict& b : all) {
      CHECK(a + b == b + a);
      for (const PortVerdict& c : all) CHECK((a + b) + c == a + (b + c));
    }
  }
}

TEST_CASE("queue pairs that are there for the port's sake are nobody's", "[core.port_owners]") {
  const auto of = [](QpType type, std::shared_ptr<const Owner> owner) { return QpRecord{.key = {}, .qpn = {}, .type = type, .port = {}, .owner = std::move(owner), .remote_qpn = {}, .changed = {}}; };
  const auto kernel = [](const char* name) {
    auto owner = std::make_shared<Owner>();
    owner->known = true;
    owner->kern_name = name;
    return owner;
  };
  CHECK(carries_tenant_traffic(of(QpType::rc, nullptr)));
  CHECK(carries_tenant_traffic(of(QpType::driver, nullptr)));  // a user's DCT or DCI
  CHECK(carries_tenant_traffic(of(QpType::rc, kernel("nvme_rdma"))));
  CHECK_FALSE(carries_tenant_traffic(of(QpType::gsi, kernel("ib_core"))));
  CHECK_FALSE(carries_tenant_traffic(of(QpType::smi, nullptr)));
  CHECK_FALSE(carries_tenant_traffic(of(QpType::ud, kernel("mlx5_ib"))));
  CHECK_FALSE(carries_tenant_traffic(of(static_cast<QpType>(0x1001), nullptr)));  // MLX5_IB_QPT_HW_GSI
}
