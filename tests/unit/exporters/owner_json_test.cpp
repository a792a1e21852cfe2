// SPDX-License-Identifier: Apache-2.0
#include "exporters/owner_json.h"

#include <catch2/catch.hpp>

using namespace qpscope;
using Catch::Contains;

TEST_CASE("an owner as JSON is safe whatever the tenant chose", "[exporters.owner_json]") {
  Owner owner;
  owner.tgid = {42};
  owner.tid = {43};
  owner.comm = "a\"b\xff\n";
  owner.cgroup_path = "/x\\y";
  const std::string text = owner_json(owner, {.tenant = "t", .workload = "w", .kind = "slurm", .slurm_user = "a\nb"});
  CHECK_THAT(text, Contains("\"pid\": 42") && Contains("\"tid\": 43") && Contains(R"("comm": "a\"b\\xff\\x0a")") &&
                       Contains(R"("cgroup": "/x\\x5cy")"));
  CHECK_THAT(text, Contains("\"kind\": \"slurm\"") && Contains(R"("slurm_user": "a\\x0ab")") && Contains(R"("k8s_pod": "")") && !Contains("uid"));
  owner.uid = 0;
  owner.k8s_pod = "p-0";
  CHECK_THAT(owner_json(owner, {}), Contains("\"uid\": 0") && Contains(R"("k8s_pod": "p-0")"));
}
