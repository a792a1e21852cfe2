// SPDX-License-Identifier: Apache-2.0
// The source of last resort: nobody knows the tenant, but the cgroup has a name.
#include "collectors/tenants/sources.h"

namespace qpscope {
namespace {

// "/a/b.scope" → "b.scope", "/" → "/".
std::string_view last_element(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (path.size() <= 1) return path;
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

class CgroupPath : public TenantResolver {
 public:
  std::string_view name() const override { return "cgroup_path"; }

  std::optional<Attribution> resolve(const Owner& owner) override {
    if (!owner.known || !owner.user || owner.cgroup_path.empty()) return std::nullopt;
    return Attribution{.tenant = {.tenant = "unknown", .workload = std::string(last_element(owner.cgroup_path)), .kind = "unknown"}};
  }
};

}  // namespace

std::unique_ptr<TenantResolver> make_cgroup_path() { return std::make_unique<CgroupPath>(); }

}  // namespace qpscope
