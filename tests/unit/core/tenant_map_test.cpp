// SPDX-License-Identifier: Apache-2.0
#include "core/tenant_map.h"

#include <catch2/catch.hpp>

using namespace qpscope;

namespace {

// Answers for owners whose comm starts with its own letter.
class Letter : public TenantResolver {
 public:
  Letter(char letter, std::string tenant) : letter_(letter), tenant_(std::move(tenant)) {}
  std::string_view name() const override { return tenant_; }
  std::optional<Tenant> resolve(const Owner& owner) override {
    if (letter_ != '*' && !owner.comm.starts_with(letter_)) return std::nullopt;
    return Tenant{tenant_, owner.comm};
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
  const TenantId first = map.resolve(named("ab")), rest = map.resolve(named("b"));
  CHECK(map.tenants()->at(first) == Tenant{"first", "ab"});
  CHECK(map.tenants()->at(rest) == Tenant{"rest", "b"});
  CHECK(map.resolve(named("ab")) == first);
}

TEST_CASE("an owner nobody knows is unknown", "[core.tenant_map]") {
  TenantMap map = map_of({{'a', "first"}}, 10);
  CHECK(map.resolve(named("zz")) == TenantMap::kUnknown);
  Owner unknown = named("ab");
  unknown.known = false;
  CHECK(map.resolve(unknown) == TenantMap::kUnknown);
  CHECK(map.tenants()->at(TenantMap::kUnknown) == Tenant{"unknown", "unknown"});
  CHECK(map.overflows() == 0);
}

TEST_CASE("the same list while no pair was added", "[core.tenant_map]") {
  TenantMap map = map_of({{'*', "t"}}, 10);
  map.resolve(named("a"));
  const auto list = map.tenants();
  map.resolve(named("a"));
  CHECK(map.tenants() == list);
  map.resolve(named("b"));
  CHECK(map.tenants() != list);
  CHECK(list->size() == 3);  // a list once given out does not change
}

TEST_CASE("beyond the limit newcomers are other/other, and known ones stay", "[core.tenant_map]") {
  TenantMap map = map_of({{'*', "t"}}, 2);
  const TenantId a = map.resolve(named("a")), b = map.resolve(named("b"));
  CHECK(a != b);
  CHECK(map.resolve(named("c")) == TenantMap::kOther);
  CHECK(map.resolve(named("c")) == TenantMap::kOther);
  CHECK(map.resolve(named("a")) == a);
  CHECK(map.resolve(named("b")) == b);
  CHECK(map.overflows() == 2);
  CHECK(map.tenants()->size() == 4);
  CHECK(map.tenants()->at(TenantMap::kOther) == Tenant{"other", "other"});
}
