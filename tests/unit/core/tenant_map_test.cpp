// SPDX-License-Identifier: Apache-2.0
#include "core/tenant_map.h"

#include <catch2/catch.hpp>
#include <set>

using namespace qpscope;

namespace {

// Answers for owners whose comm starts with its own letter.
class Letter : public TenantResolver {
 public:
  Letter(char letter, std::string tenant) : letter_(letter), tenant_(std::move(tenant)) {}
  std::string_view name() const override { return tenant_; }
  std::optional<Attribution> resolve(const Owner& owner) override {
    if (letter_ != '*' && !owner.comm.starts_with(letter_)) return std::nullopt;
    return Attribution{.tenant = {.tenant = tenant_, .workload = owner.comm}};
  }

 private:
  char letter_;
  std::string tenant_;
};

TenantMap map_of(std::vector<std::pair<char, std::string>> letters, std::size_t limit) {
  std::vector<std::unique_ptr<TenantResolver>> resolvers;
  for (auto& [letter, tenant] : letters) resolvers.push_back(std::make_unique<Letter>(letter, std::move(tenant)));
  return TenantMap(std::move(resolvers), limit);
}

Owner named(std::string comm) {
  Owner owner;
  owner.known = owner.user = true;
  owner.comm = std::move(comm);
  return owner;
}

}  // namespace

TEST_CASE("the first resolver that answers wins", "[core.tenant_map]") {
  TenantMap map = map_of({{'a', "first"}, {'*', "rest"}}, 10);
  const TenantId first = map.resolve(named("ab"), {}).id, rest = map.resolve(named("b"), {}).id;
  CHECK(map.tenants()->at(first) == Tenant{.tenant = "first", .workload = "ab"});
  CHECK(map.tenants()->at(rest) == Tenant{.tenant = "rest", .workload = "b"});
  CHECK(map.resolve(named("ab"), {}).id == first);
}

TEST_CASE("an owner nobody knows is unknown", "[core.tenant_map]") {
  TenantMap map = map_of({{'a', "first"}}, 10);
  CHECK(map.resolve(named("zz"), {}).id == TenantMap::kUnknown);
  Owner unknown = named("ab");
  unknown.known = false;
  CHECK(map.resolve(unknown, {}).id == TenantMap::kUnknown);
  CHECK(map.tenants()->at(TenantMap::kUnknown) == Tenant{.tenant = "unknown", .workload = "unknown"});
  CHECK(map.overflows() == 0);
}

TEST_CASE("the same list while no pair was added", "[core.tenant_map]") {
  TenantMap map = map_of({{'*', "t"}}, 10);
  map.resolve(named("a"), {});
  const auto list = map.tenants();
  map.resolve(named("a"), {});
  CHECK(map.tenants() == list);
  map.resolve(named("b"), {});
  CHECK(map.tenants() != list);
  CHECK(list->size() == 3);  // a list once given out does not change
}

TEST_CASE("beyond the limit newcomers are other/other, and known ones stay", "[core.tenant_map]") {
  TenantMap map = map_of({{'*', "t"}}, 2);
  const TenantId a = map.resolve(named("a"), {}).id, b = map.resolve(named("b"), {}).id;
  CHECK(a != b);
  CHECK(map.resolve(named("c"), {}).id == TenantMap::kOther);
  CHECK(map.resolve(named("c"), {}).id == TenantMap::kOther);
  CHECK(map.resolve(named("a"), {}).id == a);
  CHECK(map.resolve(named("b"), {}).id == b);
  CHECK(map.overflows() == 2);
  CHECK(map.tenants()->size() == 4);
  CHECK(map.tenants()->at(TenantMap::kOther) == Tenant{.tenant = "other", .workload = "other"});
}

TEST_CASE("a pair out of use gives its number to a newcomer, the longest unused first", "[core.tenant_map]") {
  constexpr auto at = [](double seconds) { return BootTime{static_cast<std::uint64_t>(seconds * 1e9)}; };
  TenantMap map = map_of({{'a', "t"}, {'*', "rest"}}, 3);
  const TenantId a = map.resolve(named("a"), at(0)).id, b = map.resolve(named("b"), at(1)).id, c = map.resolve(named("c"), at(2)).id;
  CHECK(map.resolve(named("d"), at(500)).id == TenantMap::kOther);
  map.in_use(std::vector{a}, at(500));
  const auto before = map.tenants();
  CHECK(map.resolve(named("d"), at(602)).id == b);
  CHECK(map.tenants()->at(b) == Tenant{.tenant = "rest", .workload = "d"});
  CHECK(before->at(b) == Tenant{.tenant = "rest", .workload = "b"});  // who holds the old list sees the old pair
  CHECK(map.resolve(named("e"), at(603)).id == c);
  CHECK(map.resolve(named("f"), at(604)).id == TenantMap::kOther);
  CHECK(map.resolve(named("a"), at(604)).id == a);
  CHECK(map.resolve(named("b"), at(604)).id == TenantMap::kOther);
  CHECK(map.tenants()->size() == 5);
}

TEST_CASE("one tenant leaves room for the others, whatever it makes up", "[core.tenant_map]") {
  TenantMap map = map_of({{'a', "greedy"}, {'*', "rest"}}, 16);
  std::set<TenantId> ids;
  for (int i = 0; i < 100; ++i) ids.insert(map.resolve(named("a" + std::to_string(i)), {}).id);
  CHECK(ids.size() == 15);  // 14 pairs and other
  CHECK(map.resolve(named("b"), {}).id != TenantMap::kOther);
  CHECK(map.resolve(named("c"), {}).id != TenantMap::kOther);
  CHECK(map.resolve(named("d"), {}).id == TenantMap::kOther);
}

TEST_CASE("a rule without a workload takes the next one's", "[core.tenant_map]") {
  class Nameless : public TenantResolver {
   public:
    std::string_view name() const override { return "rule"; }
    std::optional<Attribution> resolve(const Owner&) override { return Attribution{.tenant = {.tenant = "lab", .kind = "rule"}}; }
  };
  std::vector<std::unique_ptr<TenantResolver>> resolvers;
  resolvers.push_back(std::make_unique<Nameless>());
  resolvers.push_back(std::make_unique<Letter>('a', "rest"));
  TenantMap map(std::move(resolvers), 10);
  const TenantId with = map.resolve(named("ab"), {}).id, without = map.resolve(named("zz"), {}).id;
  CHECK(map.tenants()->at(with) == Tenant{.tenant = "lab", .workload = "ab"});
  CHECK(map.tenants()->at(without) == Tenant{.tenant = "lab", .workload = "unknown"});
}
