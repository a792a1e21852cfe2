// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "collectors/tenants/sources.h"
#include "unit/collectors/tenants/site.h"

using namespace qpscope;
using namespace qpscope::test;

TEST_CASE("the last element of the cgroup path names the workload", "[tenants.cgroup_path]") {
  const auto source = make_cgroup_path();
  CHECK(source->name() == "cgroup_path");
  const auto workload = [&](std::string path) { return source->resolve(in_cgroup(std::move(path))).value().tenant; };
  CHECK(workload("/system.slice/train.service") == Tenant{.tenant = "unknown", .workload = "train.service"});
  CHECK(workload("/train-a") == Tenant{.tenant = "unknown", .workload = "train-a"});
  CHECK(workload("/") == Tenant{.tenant = "unknown", .workload = "/"});
  CHECK(workload("//") == Tenant{.tenant = "unknown", .workload = "/"});
  CHECK(workload("/a/b/") == Tenant{.tenant = "unknown", .workload = "b"});
  CHECK(workload("/../..") == Tenant{.tenant = "unknown", .workload = ".."});
  CHECK(workload("/a/x\ny\xff") == Tenant{.tenant = "unknown", .workload = "x\ny\xff"});  // raw: made safe at the door out
}

TEST_CASE("it does not guess", "[tenants.cgroup_path]") {
  const auto source = make_cgroup_path();
  CHECK_FALSE(source->resolve(in_cgroup("")));
  Owner owner = in_cgroup("/a");
  owner.known = false;
  CHECK_FALSE(source->resolve(owner));
  owner = in_cgroup("/a");
  owner.user = false;
  CHECK_FALSE(source->resolve(owner));
}
