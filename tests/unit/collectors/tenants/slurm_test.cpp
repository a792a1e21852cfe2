// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "unit/collectors/tenants/site.h"

using namespace qpscope;
using namespace qpscope::test;

TEST_CASE("Slurm's cgroups", "[tenants.slurm]") {
  TenantSite site;
  const std::string job = "slurm alice 123";
  for (const auto& [path, words] : std::vector<PathCase>{
           {"/slurm/uid_1000/job_123/step_0/task_0", job},
           {"/slurm/uid_1000/job_123/step_batch", job},
           {"/slurm/uid_1000/job_123/step_extern/task_0", job},
           {"/slurm_node01/uid_1000/job_123/step_4294967291/task_3", job},
           {"/slurm/uid_1001/job_7", "slurm bob 7"},
           {"/slurm/uid_4711/job_7/step_0", "slurm 4711 7"},
           {"/system.slice/slurmstepd.scope/job_123/step_0/user/task_0", job},
           {"/system.slice/slurmstepd.scope/job_123/step_batch/user/task_0", job},
           {"/system.slice/slurmstepd.scope/job_123/step_interactive/user/task_0", job},
           {"/system.slice/slurmstepd.scope/job_123/step_extern/user/task_special", job},
           {"/system.slice/slurmstepd.scope/job_123/step_0/slurm", job},
           {"/system.slice/node01_slurmstepd.scope/job_123/step_0/user/task_0", job},
           {"/system.slice/slurmstepd.scope/job_123/step_0/user/task_0 (deleted)", job},
           {"/../../../system.slice/slurmstepd.scope/job_123/step_0/user/task_0", job},
           // A cluster, a container inside of a job: the job answers for it.
           {"/system.slice/slurmstepd.scope/job_123/step_0/user/task_0/kubepods/besteffort/pod" + kUid + "/" + kId, job},
           {"/slurm/uid_1000/job_123/step_0/task_0/docker/" + kId, job},
       }) {
    CAPTURE(path);
    CHECK(site.words(path) == words);
  }
  const Tenant tenant = site.tell(in_cgroup("/slurm/uid_1000/job_123/step_0")).tenant;
  CHECK(tenant.slurm_job == "123");
  CHECK(tenant.slurm_user == "alice");
}

TEST_CASE("a user who is not known is not guessed", "[tenants.slurm]") {
  TenantSite site;
  const auto told = site.tell(in_cgroup("/system.slice/slurmstepd.scope/job_123/step_0/user/task_0", std::nullopt));
  CHECK(told.tenant == Tenant{.tenant = "unknown", .workload = "123"});
  CHECK(told.tenant.slurm_user.empty());
  // The v1 path tells it.
  CHECK(site.tell(in_cgroup("/slurm/uid_1001/job_123", std::nullopt)).tenant.tenant == "bob");
}

TEST_CASE("what only looks like a job", "[tenants.slurm]") {
  TenantSite site;
  for (const std::string path : {
           "/user.slice/user-1001.slice/user@1001.service/slurm/uid_0/job_1",
           "/user.slice/user-1001.slice/user@1001.service/system.slice/slurmstepd.scope/job_1/step_0",
           "/system.slice/slurmstepd.scope",
           "/system.slice/slurmstepd.scope/system",
           "/system.slice/slurmstepd.scope/job_/step_0",
           "/system.slice/slurmstepd.scope/job_1x/step_0",
           "/system.slice/slurmstepd.scope/job_-1",
           "/system.slice/foo.service/slurm/uid_0/job_1",
           "/system.slice/evil.service/slurmstepd.scope/job_1/step_0",
           "/slurm/uid_0",
           "/slurm/uid_x/job_1",
           "/slurm/job_1",
           "/slurmd/uid_0/job_1",
           "/docker/slurm/uid_0/job_1",
           "/job_1",
           "/job_1/slurm/uid_0/job_2",
       }) {
    CAPTURE(path);
    CHECK(site.tell(in_cgroup(path, 1001)).tenant.kind != "slurm");
  }
}

TEST_CASE("the environment names the account only where the site says so and the job agrees", "[tenants.slurm]") {
  TenantSite site;
  Owner owner = in_cgroup("/system.slice/slurmstepd.scope/job_123/step_0/user/task_0");
  owner.tid = owner.tgid = {50};
  owner.start_time = BootTime{42'420'000'000};
  site.tree.file("proc/50/stat", "50 (app) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0\n");
  const auto environment = [&](std::string_view text) { site.tree.file("proc/50/environ", text); };
  using namespace std::string_view_literals;

  environment("SLURM_JOB_ID=123\0SLURM_JOB_ACCOUNT=physics\0"sv);
  CHECK(site.words(owner) == "slurm alice 123");
  site.config.slurm_account_from_environment = true;
  CHECK(site.words(owner) == "slurm physics 123");
  CHECK(site.tell(owner).tenant.slurm_user == "alice");

  environment("SLURM_JOB_ID=124\0SLURM_JOB_ACCOUNT=physics\0"sv);
  CHECK(site.words(owner) == "slurm alice 123");
  environment("SLURM_JOB_ID=123\0SLURM_JOB_ACCOUNT=\0"sv);
  CHECK(site.words(owner) == "slurm alice 123");
  environment("XSLURM_JOB_ID=123\0SLURM_JOB_ID=9\0SLURM_JOB_ID=123\0SLURM_JOB_ACCOUNT=physics\0"sv);
  CHECK(site.words(owner) == "slurm alice 123");
  environment(std::string(300'000, 'x') + std::string("\0SLURM_JOB_ID=123\0SLURM_JOB_ACCOUNT=physics\0"sv));
  CHECK(site.words(owner) == "slurm alice 123");

  environment("SLURM_JOB_ID=123\0SLURM_JOB_ACCOUNT=physics\0"sv);
  owner.start_time = BootTime{42'430'000'000};  // the number is another process's by now
  CHECK(site.words(owner) == "slurm alice 123");
}
