// SPDX-License-Identifier: Apache-2.0
// A host with files and all sources in their order: what would an owner in this cgroup be called?
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "collectors/tenants/registry.h"
#include "core/tenant_map.h"
#include "support/fake_clock.h"
#include "unit/collectors/host/temp_tree.h"

namespace qpscope::test {

// A container's id and a pod's uid, as they look.
inline const std::string kId = "4c6a8e0f2b1d3c5e7f9a0b2d4c6e8f1a3b5d7c9e0f2a4b6d8c1e3f5a7b9d0c2e";
inline const std::string kUid = "0b51b7bf-1f0c-4c52-9d0e-6b8f4f6f2a11";
inline const std::string kUid_ = "0b51b7bf_1f0c_4c52_9d0e_6b8f4f6f2a11";
inline const std::string kStaticUid = "3f2a4b6d8c1e3f5a7b9d0c2e4c6a8e0f";

inline Owner in_cgroup(std::string path, std::optional<std::uint32_t> uid = 1000) {
  Owner owner;
  owner.known = owner.user = true;
  owner.cgroup_path = std::move(path);
  owner.uid = uid;
  return owner;
}

struct TenantSite {
  TempTree tree;
  Sysroot root = Sysroot::open(tree.path()).value();
  FakeClock clock;
  TenantsConfig config;

  TenantSite() {
    tree.file("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nalice:x:1000:1000::/:/bin/bash\nbob:x:1001:1001::/:/bin/sh\n");
  }

  // A pod's log folder and the link to the log of its container.
  void pod(const std::string& k8s_namespace, const std::string& name, const std::string& uid, const std::string& container,
           const std::string& id) {
    tree.folder("var/log/pods/" + k8s_namespace + "_" + name + "_" + uid + "/" + container);
    tree.link("var/log/containers/" + name + "_" + k8s_namespace + "_" + container + "-" + id + ".log", "/nowhere");
  }

  std::vector<std::unique_ptr<TenantResolver>> resolvers() { return make_resolvers(root, config, clock.fn()); }

  struct Told {
    Tenant tenant;
    TenantMap::Named named;
  };
  Told tell(const Owner& owner) {
    TenantMap map(resolvers(), 10);
    TenantMap::Named named = map.resolve(owner, {});
    return {map.tenants()->at(named.id), named};
  }
  // "kind tenant workload"
  std::string words(const Owner& owner) {
    const Tenant tenant = tell(owner).tenant;
    return tenant.kind + " " + tenant.tenant + " " + tenant.workload;
  }
  std::string words(std::string path) { return words(in_cgroup(std::move(path))); }
};

struct PathCase {
  std::string path, words;
};

}  // namespace qpscope::test
