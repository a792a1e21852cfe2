// SPDX-License-Identifier: Apache-2.0
// System containers, each a small host of its own; what runs inside is their business:
//   LXC, LXD         /lxc.payload.<name>, /lxc.payload/<name>, /lxc/<name>, and lxc.monitor likewise
//   systemd-nspawn   /machine.slice/machine-<name>.scope, /machine.slice/systemd-nspawn@<name>.service
// Virtual machines of libvirt lie beside the latter (machine-qemu\x2d…): they are no containers, and systemd.cpp has them.
#include "collectors/tenants/path.h"
#include "collectors/tenants/sources.h"

namespace qpscope {
namespace {

struct Machine {
  std::string name;
  const char* kind;
};

int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

// "a\x2db" → "a-b": what systemd-escape(1) did.
std::string unescaped(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with("\\x") && i + 3 < name.size() && hex_digit(name[i + 2]) >= 0 && hex_digit(name[i + 3]) >= 0) {
      out += static_cast<char>(hex_digit(name[i + 2]) * 16 + hex_digit(name[i + 3]));
      i += 3;
    } else {
      out += name[i];
    }
  }
  return out;
}

std::optional<std::string> between(std::string_view element, std::string_view before, std::string_view after) {
  if (element.size() <= before.size() + after.size() || !element.starts_with(before) || !element.ends_with(after)) return std::nullopt;
  return unescaped(element.substr(before.size(), element.size() - before.size() - after.size()));
}

std::optional<Machine> machine_of(const CgroupPath& path) {
  for (const std::string_view top : {"lxc.payload", "lxc.monitor", "lxc"}) {
    if (path[0] == top && !path[1].empty()) return Machine{std::string(path[1]), "lxc"};
  }
  for (const std::string_view before : {"lxc.payload.", "lxc.monitor."}) {
    if (path[0].size() > before.size() && path[0].starts_with(before)) return Machine{std::string(path[0].substr(before.size())), "lxc"};
  }
  if (path[0] != "machine.slice") return std::nullopt;
  const std::string_view unit = path[path.slices()];
  if (auto name = between(unit, "systemd-nspawn@", ".service")) return Machine{std::move(*name), "nspawn"};
  if (auto name = between(unit, "machine-", ".scope"); name && !name->starts_with("qemu-")) return Machine{std::move(*name), "nspawn"};
  return std::nullopt;
}

class MachineSource : public TenantResolver {
 public:
  std::string_view name() const override { return "machine"; }

  std::optional<Attribution> resolve(const Owner& owner) override {
    if (!owner.known || !owner.user) return std::nullopt;
    auto machine = machine_of(CgroupPath(owner.cgroup_path));
    if (!machine) return std::nullopt;
    return Attribution{.tenant = {.tenant = "container", .workload = std::move(machine->name), .kind = machine->kind}};
  }
};

}  // namespace

std::unique_ptr<TenantResolver> make_machine() { return std::make_unique<MachineSource>(); }

}  // namespace qpscope
