// SPDX-License-Identifier: Apache-2.0
// Containers of docker, and of containerd alone (nerdctl, ctr):
//   systemd   /system.slice/docker-<id>.scope, or below the slice of --cgroup-parent: /a.slice/a-b.slice/docker-<id>.scope
//   cgroupfs  /docker/<id>, or below --cgroup-parent: /ecs/<task>/<id>
//   nerdctl   /system.slice/nerdctl-<id>.scope, /default/<id>
// The name is docker's own (container_names.h); without it the short id.
#include "collectors/tenants/container_names.h"
#include "collectors/tenants/path.h"
#include "collectors/tenants/sources.h"

namespace qpscope {
namespace {

struct Container {
  std::string_view id;
  bool docker = true;
};

std::optional<Container> container_of(const CgroupPath& path) {
  // dockerd as a service of a v1 host, whose own cgroup is the parent then.
  if (path[0] == "system.slice" && path[1] == "docker.service" && path[2] == "docker" && is_container_id(path[3])) return Container{path[3]};
  if (const std::size_t slices = path.slices(); slices > 0) {
    if (const auto id = id_between(path[slices], "docker-", ".scope")) return Container{*id};
    if (const auto id = id_between(path[slices], "nerdctl-", ".scope")) return Container{*id, false};
    return std::nullopt;
  }
  if (path[0] == "docker" && path[1] == "buildkit" && is_container_id(path[2])) return Container{path[2]};
  if (path[0] == "docker" && is_container_id(path[1])) return Container{path[1]};
  if (path[0] == "system.slice" && path[1] == "docker.service" && path[2] == "docker" && is_container_id(path[3]))
    return Container{path[3]};
  if (path[0] == "ecs" && is_container_id(path[2])) return Container{path[2]};
  if (path[0] == "ecs" && is_container_id(path[1])) return Container{path[1]};
  if (path[0] == "default" && is_container_id(path[1])) return Container{path[1], false};
  return std::nullopt;
}

class Docker : public TenantResolver {
 public:
  explicit Docker(const SourceContext& context) : root_(context.root), names_(context.now, {}) {}
  std::string_view name() const override { return "docker"; }

  std::optional<Attribution> resolve(const Owner& owner) override {
    if (!owner.known || !owner.user) return std::nullopt;
    const CgroupPath path(owner.cgroup_path);
    const auto container = container_of(path);
    if (!container) return std::nullopt;
    Attribution out{.tenant = {.tenant = "container",
                               .workload = std::string(short_id(container->id)),
                               .kind = container->docker ? "docker" : "containerd"}};
    if (!container->docker) return out;
    const auto found = names_.get(std::string(container->id), [this](const std::string& id) -> std::optional<std::string> {
      const auto text = root_.read_text("/var/lib/docker/containers/" + id + "/config.v2.json", kMostBytes);
      return text ? docker_name(*text) : std::nullopt;
    });
    if (found) out.tenant.workload = *found;
    return out;
  }

 private:
  static constexpr std::size_t kMostBytes = 1024 * 1024;

  const Sysroot& root_;
  TtlCache<std::string, std::string> names_;
};

}  // namespace

std::unique_ptr<TenantResolver> make_docker(const SourceContext& context) { return std::make_unique<Docker>(context); }

}  // namespace qpscope
