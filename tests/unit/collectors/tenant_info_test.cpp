// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenant_info.h"

#include <catch2/catch.hpp>

using namespace qpscope;

namespace {

QpRecord of(TenantId tenant, std::string pod = {}, std::string container = {}) {
  Owner owner;
  owner.known = owner.user = true;
  owner.k8s_pod = std::move(pod);
  owner.k8s_container = std::move(container);
  QpRecord record;
  record.tenant = tenant;
  record.owner = std::make_shared<const Owner>(std::move(owner));
  return record;
}

std::vector<Labels> labels(const SampleList& out, std::string_view family) {
  std::vector<Labels> found;
  for (const Sample& one : out) {
    if (one.def->name == family) found.push_back(one.labels);
  }
  return found;
}

}  // namespace

TEST_CASE("one sample for each pair that has queue pairs, and one for each container", "[collectors.tenant_info]") {
  const std::vector<Tenant> tenants{{.tenant = "unknown", .workload = "unknown", .kind = "unknown"},
                                    {.tenant = "other", .workload = "other", .kind = "other"},
                                    {.tenant = "gone", .workload = "gone", .kind = "docker"},
                                    {.tenant = "ml", .workload = "trainer", .kind = "kubernetes", .k8s_namespace = "ml"}};
  std::vector<QpRecord> records{of(3, "trainer-0", "main"), of(3, "trainer-0", "main"), of(3, "trainer-1"), of(0)};
  records.push_back({});  // an owner that is withheld
  const SampleList out = tenant_samples(records, {}, tenants);
  CHECK(labels(out, "qpscope_tenant_info") == std::vector<Labels>{{"unknown", "unknown", "unknown", "", "", "", ""},
                                                                                    {"ml", "trainer", "kubernetes", "", "", "ml", ""}});
  CHECK(labels(out, "qpscope_tenant_member_info") ==
        std::vector<Labels>{{"ml", "trainer", "trainer-0", "main"}, {"ml", "trainer", "trainer-1", ""}});
  CHECK(std::get<double>(out.back().value) == 0);
}

TEST_CASE("members are bounded, and those without room are counted", "[collectors.tenant_info]") {
  const std::vector<Tenant> tenants{{.tenant = "t", .workload = "w"}};
  std::vector<QpRecord> records;
  for (std::size_t i = 0; i < kMostMembers + 7; ++i) records.push_back(of(0, "p" + std::to_string(i)));
  const SampleList out = tenant_samples(records, {}, tenants);
  CHECK(labels(out, "qpscope_tenant_member_info").size() == kMostMembers);
  CHECK(std::get<double>(out.back().value) == 7);
}
