// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "collectors/tenants/sources.h"

using namespace qpscope;

TEST_CASE("a kernel module's queue pairs are the kernel's", "[tenants.kernel_consumer]") {
  const auto source = make_kernel_consumer();
  CHECK(source->name() == "kernel_consumer");
  Owner owner;
  owner.kern_name = "nvme_rdma";
  CHECK_FALSE(source->resolve(owner));  // not known: the rest means nothing
  owner.known = true;
  CHECK(source->resolve(owner)->tenant == Tenant{.tenant = "kernel", .workload = "nvme_rdma"});
  owner.kern_name.clear();
  CHECK(source->resolve(owner)->tenant == Tenant{.tenant = "kernel", .workload = "unknown"});
  owner.user = true;
  CHECK_FALSE(source->resolve(owner));
}
