// SPDX-License-Identifier: Apache-2.0
// What systemd itself keeps apart:
//   units   /system.slice/foo.service, /a.slice/a-b.slice/x.scope, /init.scope    tenant the unit's slice, workload the unit
//   users   /user.slice/user-1000.slice/session-3.scope,
//           …/user@1000.service/app.slice/app-x.scope                             tenant the user, workload the unit
// The system's manager makes the slices at the front and the unit behind them. What lies below a unit was handed to it and its
// names are its own; of a user's manager they are shown as the workload, which can only fool the user who chose them.
#include "collectors/tenants/path.h"
#include "collectors/tenants/sources.h"

namespace qpscope {
namespace {

// "user-1000.slice" → 1000.
std::optional<std::uint32_t> slice_user(std::string_view slice) {
  constexpr std::string_view kBefore = "user-", kAfter = ".slice";
  if (slice.size() <= kBefore.size() + kAfter.size() || !slice.starts_with(kBefore) || !slice.ends_with(kAfter)) return std::nullopt;
  const std::string_view digits = slice.substr(kBefore.size(), slice.size() - kBefore.size() - kAfter.size());
  if (!is_number(digits)) return std::nullopt;
  const auto uid = parse_u64(digits, "uid");
  return uid && *uid <= UINT32_MAX ? std::optional(static_cast<std::uint32_t>(*uid)) : std::nullopt;
}

class Systemd : public TenantResolver {
 public:
  explicit Systemd(const SourceContext& context) : users_(context.users) {}
  std::string_view name() const override { return "systemd"; }

  std::optional<Attribution> resolve(const Owner& owner) override {
    if (!owner.known || !owner.user) return std::nullopt;
    const CgroupPath path(owner.cgroup_path);
    const std::size_t slices = path.slices();
    if (path[0] == "user.slice") {
      if (const auto uid = slice_user(path[1])) return of_user(path, users_->name(*uid));
    }
    if (slices == 0 && path[0] != "init.scope") return std::nullopt;
    // A cgroup that somebody made in a slice by hand is named like a unit; a process in the slice itself by the slice.
    const std::string_view unit = slices < path.size() ? path[slices] : path[slices - 1];
    return named(slices > 0 ? std::string(path[slices - 1]) : "-.slice", unit);
  }

 private:
  static Attribution named(std::string tenant, std::string_view unit) {
    return {.tenant = {.tenant = std::move(tenant), .workload = std::string(unit), .kind = "systemd", .unit = std::string(unit)}};
  }

  // The innermost unit of the user's own manager where there is one.
  static Attribution of_user(const CgroupPath& path, std::string user) {
    constexpr std::size_t kUnit = 2;
    std::string_view unit = path.size() > kUnit ? path[kUnit] : path[kUnit - 1];
    if (unit.starts_with("user@")) {
      std::size_t at = kUnit + 1;
      while (is_slice(path[at])) ++at;
      if (is_unit(path[at])) unit = path[at];
    }
    return named(std::move(user), unit);
  }

  const std::shared_ptr<UserNames> users_;
};

}  // namespace

std::unique_ptr<TenantResolver> make_systemd(const SourceContext& context) { return std::make_unique<Systemd>(context); }

}  // namespace qpscope
