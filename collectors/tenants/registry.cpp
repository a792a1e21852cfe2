// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenants/registry.h"

#include "collectors/tenants/sources.h"

namespace qpscope {

std::vector<std::unique_ptr<TenantResolver>> make_resolvers() {
  std::vector<std::unique_ptr<TenantResolver>> resolvers;
  resolvers.push_back(make_kernel_consumer());
  resolvers.push_back(make_cgroup_path());  // the last: it answers for every process
  return resolvers;
}

}  // namespace qpscope
