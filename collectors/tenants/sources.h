// SPDX-License-Identifier: Apache-2.0
// One factory per source, each in the .cpp file of its name.
#pragma once

#include <memory>

#include "collectors/host/sysroot.h"
#include "collectors/tenants/user_names.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/tenant.h"

namespace qpscope {

// What sources are made of. `root` must outlive them.
struct SourceContext {
  const Sysroot& root;
  TenantsConfig config;
  ClockFn now;
  std::shared_ptr<UserNames> users;  // one cache for all
};

std::unique_ptr<TenantResolver> make_kernel_consumer();
std::unique_ptr<TenantResolver> make_rules(const SourceContext& context);
std::unique_ptr<TenantResolver> make_slurm(const SourceContext& context);
std::unique_ptr<TenantResolver> make_kubernetes(const SourceContext& context);
std::unique_ptr<TenantResolver> make_docker(const SourceContext& context);
std::unique_ptr<TenantResolver> make_podman(const SourceContext& context);
std::unique_ptr<TenantResolver> make_machine();
std::unique_ptr<TenantResolver> make_systemd(const SourceContext& context);
std::unique_ptr<TenantResolver> make_cgroup_path();

}  // namespace qpscope
