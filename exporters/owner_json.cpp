// SPDX-License-Identifier: Apache-2.0
#include "exporters/owner_json.h"

#include <nlohmann/json.hpp>

#include "core/text.h"

namespace qpscope {

std::string owner_json(const Owner& owner, const Tenant& tenant) {
  const nlohmann::ordered_json out{
      {"pid", owner.tgid.value},
      {"tid", owner.tid.value},
      {"comm", safe_text(owner.comm)},
      {"cgroup", safe_text(owner.cgroup_path)},
      {"tenant", safe_text(tenant.tenant)},
      {"workload", safe_text(tenant.workload)},
  };
  return out.dump(2) + "\n";
}

}  // namespace qpscope
