// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenants/registry.h"

#include <catch2/catch.hpp>
#include <set>

#include "unit/collectors/tenants/site.h"

using namespace qpscope;

TEST_CASE("the order of sources: each name once, the cgroup path last", "[tenants.registry]") {
  qpscope::test::TenantSite site;
  const auto resolvers = site.resolvers();
  std::set<std::string_view> names;
  for (const auto& resolver : resolvers) CHECK(names.insert(resolver->name()).second);
  CHECK(names.contains("kernel_consumer"));
  REQUIRE_FALSE(resolvers.empty());
  CHECK(resolvers.front()->name() == "rule");
  CHECK(resolvers.back()->name() == "cgroup_path");
}
