// SPDX-License-Identifier: Apache-2.0
#include "exporters/owner_json.h"

#include <nlohmann/json.hpp>

#include "core/text.h"

namespace qpscope {

std::string owner_json(const Owner& owner, const Tenant& tenant) {
  nlohmann::ordered_json out{{"pid", owner.tgid.value}, {"tid", owner.tid.value}};
  if (owner.uid) out["uid"] = *owner.uid;
  // The last six as on qpscope_tenant_info and qpscope_tenant_member_info: empty where there is no such thing.
  for (const auto& [key, value] : {std::pair("comm", &owner.comm), {"cgroup", &owner.cgroup_path}, {"tenant", &tenant.tenant},
                                   {"workload", &tenant.workload}, {"kind", &tenant.kind}, {"slurm_job", &tenant.slurm_job},
                                   {"slurm_user", &tenant.slurm_user}, {"k8s_namespace", &tenant.k8s_namespace}, {"k8s_pod", &owner.k8s_pod},
                                   {"k8s_container", &owner.k8s_container}, {"unit", &tenant.unit}}) {
    out[key] = safe_text(*value);
  }
  return out.dump(2) + "\n";
}

}  // namespace qpscope
