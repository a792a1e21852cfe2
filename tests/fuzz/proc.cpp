// SPDX-License-Identifier: Apache-2.0
// A task as /proc tells of it, its owner, its tenant, and all of that as JSON. A NUL separates stat, status and cgroup.
#include "collectors/host/proc.h"

#include <nlohmann/json.hpp>

#include "collectors/tenants/registry.h"
#include "core/tenant_map.h"
#include "core/text.h"
#include "exporters/owner_json.h"
#include "fuzz/fuzz.h"
#include "unit/collectors/host/temp_tree.h"

using namespace qpscope;
using fuzz::check;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = fuzz::text_of(data, size);
  const auto next_file = [&] {
    const std::string_view file = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), file.size() + 1));
    return file;
  };
  ProcTask task;
  task.tid = {1234};
  const std::string_view stat = next_file(), status = next_file(), cgroup = next_file();
  if (const auto done = parse_stat(stat, task)) {
    check(stat.contains("(" + task.comm + ")"), "the comm is what stands in the brackets");
  } else {
    check(done.error().code == ErrorCode::parse && task.comm.empty() && task.start_time.value == 0, "a bad stat changes nothing");
  }
  if (const auto done = parse_status(status, task); !done) {
    check(done.error().code == ErrorCode::parse && task.tgid.value == 0 && task.uid == 0, "a bad status changes nothing");
  }
  task.cgroup_path = parse_cgroup(cgroup);
  check(task.cgroup_path.empty() || task.cgroup_path[0] == '/', "a cgroup's path begins at the root");
  check(cgroup.contains(task.cgroup_path) && !task.cgroup_path.contains('\n'), "a cgroup's path stands on one line");

  const Owner owner = owner_of(task);
  // A host without any name: the path alone has to tell.
  static const test::TempTree tree;
  static const Sysroot root = Sysroot::open(tree.path()).value();
  TenantMap tenants(make_resolvers(root, {}, [] { return BootTime{1}; }), 4);
  const TenantId id = tenants.resolve(owner, {1}).id;
  const Tenant tenant = tenants.tenants()->at(id);
  check(!tenant.tenant.empty() && !tenant.workload.empty(), "everybody has a tenant and a workload");

  const auto json = nlohmann::json::parse(owner_json(owner, tenant), nullptr, false);
  check(!json.is_discarded(), "an owner is valid JSON");
  check(json["comm"] == safe_text(task.comm) && json["cgroup"] == safe_text(task.cgroup_path) && json["pid"] == task.tgid.value, "JSON has what was read");
  return 0;
}
