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
  const std::string text = owner_json(owner, {"t", "w"});
  CHECK_THAT(text, Contains("\"pid\": 42") && Contains("\"tid\": 43") && Contains(R"("comm": "a\"b\\xff\\x0a")") &&
                       Contains(R"("cgroup": "/x\\x5cy")"));
}
