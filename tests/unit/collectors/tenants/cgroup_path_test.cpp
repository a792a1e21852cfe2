// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "collectors/tenants/sources.h"

using namespace qpscope;

namespace {

Owner in_cgroup(std::string path) {
  Owner owner;
  owner.known = owner.user = true;
  owner.cgroup_path = std::move(path);
  return owner;
}

}  // namespace

TEST_CASE("the last element of the cgroup path names the workload", "[tenants.cgroup_path]") {
  const auto source = make_cgroup_path();
  CHECK(source->name() == "cgroup_path");
  const auto workload = [&](std::string path) { return source->resolve(in_cgroup(std::move(path))).value(); };
  CHECK(workload("/system.slice/train.service") == Tenant{"unknown", "train.service"});
  CHECK(workload("/train-a") == Tenant{"unknown", "train-a"});
  CHECK(workload("/") == Tenant{"unknown", "/"});
  CHECK(workload("//") == Tenant{"unknown", "/"});
  CHECK(workload("/a/b/") == Tenant{"unknown", "b"});
  CHECK(workload("/../..") == Tenant{"unknown", ".."});
  CHECK(workload("/a/x\ny\xff") == Tenant{"unknown", "x\ny\xff"});  // raw: made safe at the door out
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
