// SPDX-License-Identifier: Apache-2.0
// Slurm (its cgroup plugins). The cgroups are slurmd's and slurmstepd's, which are root's:
//   v1  /slurm/uid_1000/job_123/step_0/task_0, /slurm_<node>/…       (src/plugins/cgroup/v1, CgroupPrepend)
//   v2  /system.slice/slurmstepd.scope/job_123/step_0/user/task_0, /system.slice/<node>_slurmstepd.scope/…
//
// The workload is the job id of the path, the same on every node. The user is the process's uid, or that of the v1 path.
// The account is nowhere in root's files: neither slurmd's spool nor slurmstepd's own environment has it, and slurmd is not asked
// over the network. SLURM_JOB_ACCOUNT stands only in the environment of the job's processes, and those can write there what they
// like: a user could let another account look guilty. So the tenant is the user. A site that trusts its users may say
// tenants.slurm_account_from_environment; even then it is used only where SLURM_JOB_ID beside it is the job of the cgroup.
#include "collectors/host/proc.h"
#include "collectors/tenants/path.h"
#include "collectors/tenants/sources.h"

namespace qpscope {
namespace {

struct Job {
  std::string_view id;
  std::string_view uid;  // empty: the path does not tell
};

std::optional<std::string_view> after(std::string_view element, std::string_view prefix) {
  if (!element.starts_with(prefix)) return std::nullopt;
  element.remove_prefix(prefix.size());
  return element;
}

std::optional<Job> job_of(const CgroupPath& path) {
  std::size_t at = 0;
  Job job;
  if (path[0] == "system.slice" && (path[1] == "slurmstepd.scope" || path[1].ends_with("_slurmstepd.scope"))) {
    at = 2;
  } else if (path[0] == "slurm" || path[0].starts_with("slurm_")) {
    const auto uid = after(path[1], "uid_");
    if (!uid || !is_number(*uid)) return std::nullopt;
    job.uid = *uid;
    at = 2;
  } else {
    return std::nullopt;
  }
  const auto id = after(path[at], "job_");
  if (!id || !is_number(*id)) return std::nullopt;
  job.id = *id;
  return job;
}

class Slurm : public TenantResolver {
 public:
  explicit Slurm(const SourceContext& context) : context_(context) {}
  std::string_view name() const override { return "slurm"; }

  std::optional<Attribution> resolve(const Owner& owner) override {
    if (!owner.known || !owner.user) return std::nullopt;
    const CgroupPath path(owner.cgroup_path);
    const auto job = job_of(path);
    if (!job) return std::nullopt;
    Tenant tenant{.tenant = "unknown", .workload = std::string(job->id), .kind = "slurm", .slurm_job = std::string(job->id)};
    if (const auto uid = uid_of(*job, owner)) tenant.tenant = tenant.slurm_user = context_.users->name(*uid);
    if (context_.config.slurm_account_from_environment) {
      if (auto account = account_of(owner, job->id)) tenant.tenant = std::move(*account);
    }
    return Attribution{.tenant = std::move(tenant)};
  }

 private:
  static std::optional<std::uint32_t> uid_of(const Job& job, const Owner& owner) {
    if (job.uid.empty()) return owner.uid;
    const auto uid = parse_u64(job.uid, "uid");
    return uid && *uid <= UINT32_MAX ? std::optional(static_cast<std::uint32_t>(*uid)) : std::nullopt;
  }

  std::optional<std::string> account_of(const Owner& owner, std::string_view job) const {
    const auto environment = read_environment(context_.root, owner);
    if (!environment || environment_value(*environment, "SLURM_JOB_ID") != job) return std::nullopt;
    const auto account = environment_value(*environment, "SLURM_JOB_ACCOUNT");
    return account && !account->empty() ? std::optional(std::string(*account)) : std::nullopt;
  }

  const SourceContext context_;
};

}  // namespace

std::unique_ptr<TenantResolver> make_slurm(const SourceContext& context) { return std::make_unique<Slurm>(context); }

}  // namespace qpscope
