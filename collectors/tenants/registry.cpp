// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenants/registry.h"

#include "collectors/tenants/sources.h"

namespace qpscope {

std::vector<std::unique_ptr<TenantResolver>> make_resolvers(const Sysroot& root, const TenantsConfig& config, ClockFn now) {
  const SourceContext context{.root = root, .config = config, .now = now, .users = std::make_shared<UserNames>(root, now)};
  std::vector<std::unique_ptr<TenantResolver>> resolvers;
  resolvers.push_back(make_rules(context));
  resolvers.push_back(make_slurm(context));
  resolvers.push_back(make_kubernetes(context));
  resolvers.push_back(make_docker(context));
  resolvers.push_back(make_podman(context));
  resolvers.push_back(make_machine());
  resolvers.push_back(make_systemd(context));
  resolvers.push_back(make_kernel_consumer());
  resolvers.push_back(make_cgroup_path());  // the last: it answers for every process
  return resolvers;
}

}  // namespace qpscope
