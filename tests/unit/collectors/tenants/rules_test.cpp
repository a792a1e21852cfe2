// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "unit/collectors/tenants/site.h"

using namespace qpscope;
using namespace qpscope::test;

TEST_CASE("a site's rules come first", "[tenants.rules]") {
  TenantSite site;
  Owner owner = in_cgroup("/batch.slice/phys/run-7");
  owner.comm = "python3";

  SECTION("over the cgroup path, with its groups") {
    site.config.rules = {{.tenant = "never", .cgroup = "^/phys"},
                         {.tenant = "lab-\\1", .workload = "\\2!\\3\\", .cgroup = "^/batch\\.slice/([a-z]+)/run-([0-9]+)$"}};
    CHECK(site.words(owner) == "rule lab-phys 7!\\");
    CHECK(site.words("/system.slice/x.service") == "systemd system.slice x.service");
  }
  SECTION("over comm: any bytes") {
    site.config.rules = {{.tenant = "t", .workload = "w", .comm = "^py.*n\\d$"}};
    CHECK(site.words(owner) == "rule t w");
    owner.comm =
        "py\n\xff"
        "n3";
    CHECK(site.words(owner) == "rule t w");
    owner.comm = "x\npython3";
    CHECK(site.words(owner) == "systemd batch.slice phys");
  }
  SECTION("over the user, by name or number") {
    site.config.rules = {{.tenant = "t", .workload = "w", .user = "^(alice|1001)$"}};
    CHECK(site.words(owner) == "rule t w");
    owner.uid = 1001;
    CHECK(site.words(owner) == "rule t w");
    owner.uid = 0;
    CHECK(site.words(owner) == "systemd batch.slice phys");
    owner.uid.reset();
    CHECK(site.words(owner) == "systemd batch.slice phys");
  }
  SECTION("over the environment, of that very process") {
    site.config.rules = {{.tenant = "t", .workload = "w", .environment = "^PROJECT=blue$"}};
    CHECK(site.words(owner) == "systemd batch.slice phys");
    owner.tid = owner.tgid = {50};
    owner.start_time = BootTime{42'420'000'000};
    site.tree.file("proc/50/stat", "50 (app) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0\n");
    site.tree.file("proc/50/environ", std::string_view("A=b\0PROJECT=blue\0C=d\0", 21));
    CHECK(site.words(owner) == "rule t w");
    site.tree.file("proc/50/environ", std::string_view("A=b\0XPROJECT=blue\0", 18));
    CHECK(site.words(owner) == "systemd batch.slice phys");
    site.tree.file("proc/50/environ", std::string_view("PROJECT=blue\0", 13));
    site.tree.file("proc/50/stat", "50 (app) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 9999 0 0\n");
    CHECK(site.words(owner) == "systemd batch.slice phys");
  }
  SECTION("all that is given must be found") {
    site.config.rules = {{.tenant = "t", .workload = "w", .cgroup = "phys", .comm = "bash"}};
    CHECK(site.words(owner) == "systemd batch.slice phys");
    owner.comm = "bash";
    CHECK(site.words(owner) == "rule t w");
  }
  SECTION("a rule may leave the workload to the sources") {
    site.config.rules = {{.tenant = "t", .cgroup = "job_"}, {.tenant = "later", .cgroup = "."}};
    const Tenant tenant = site.tell(in_cgroup("/slurm/uid_1000/job_5/step_0")).tenant;
    CHECK(tenant == Tenant{.tenant = "t", .workload = "5"});
    CHECK(tenant.kind == "rule");
    CHECK(tenant.slurm_user == "alice");
  }
  SECTION("kernel consumers have no rules") {
    site.config.rules = {{.tenant = "t", .workload = "w", .cgroup = ""}};
    owner.user = false;
    owner.kern_name = "nvme_rdma";
    CHECK(site.words(owner) == "kernel kernel nvme_rdma");
  }
}

TEST_CASE("hostile strings cost no more than their length", "[tenants.rules]") {
  TenantSite site;
  site.config.rules = {{.tenant = "t", .workload = "w", .cgroup = "(a+)+$"}, {.tenant = "t", .workload = "w", .cgroup = "(.*a){20}b"}};
  Owner owner = in_cgroup("/" + std::string(4000, 'a') + "!");
  CHECK(site.tell(owner).tenant.kind == "unknown");  // ends
}
