// SPDX-License-Identifier: Apache-2.0
// Root's podman:
//   systemd   /machine.slice/libpod-<id>.scope, …/libpod-conmon-<id>.scope, pods in a slice of their own between
//   cgroupfs  /libpod_parent/libpod-<id>
// A user's podman (below user@<uid>.service) is the user's: everything there is named by the user (systemd.cpp).
#include "collectors/tenants/container_names.h"
#include "collectors/tenants/path.h"
#include "collectors/tenants/sources.h"

namespace qpscope {
namespace {

std::optional<std::string_view> container_of(const CgroupPath& path) {
  const std::size_t slices = path.slices();
  const bool systemd = slices > 0;
  if (!systemd && path[0] != "libpod_parent") return std::nullopt;
  const std::string_view element = systemd ? path[slices] : path[1];
  const std::string_view after = systemd ? ".scope" : "";
  if (const auto id = id_between(element, "libpod-conmon-", after)) return id;
  return id_between(element, "libpod-", after);
}

class Podman : public TenantResolver {
 public:
  explicit Podman(const SourceContext& context) : root_(context.root), names_(context.now, {}) {}
  std::string_view name() const override { return "podman"; }

  std::optional<Attribution> resolve(const Owner& owner) override {
    if (!owner.known || !owner.user) return std::nullopt;
    const CgroupPath path(owner.cgroup_path);
    const auto container = container_of(path);
    if (!container) return std::nullopt;
    const auto found = names_.get(std::string(*container), [this](const std::string& id) -> std::optional<std::string> {
      const auto text = root_.read_text("/var/lib/containers/storage/overlay-containers/containers.json", kMostBytes);
      return text ? podman_name(*text, id) : std::nullopt;
    });
    return Attribution{.tenant = {.tenant = "container", .workload = found.value_or(std::string(short_id(*container))), .kind = "podman"}};
  }

 private:
  static constexpr std::size_t kMostBytes = 4 * 1024 * 1024;  // all containers of the host

  const Sysroot& root_;
  TtlCache<std::string, std::string> names_;
};

}  // namespace

std::unique_ptr<TenantResolver> make_podman(const SourceContext& context) { return std::make_unique<Podman>(context); }

}  // namespace qpscope
