// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "unit/collectors/tenants/site.h"

using namespace qpscope;
using namespace qpscope::test;

TEST_CASE("units, slices, users", "[tenants.systemd]") {
  TenantSite site;
  const std::string alice = "/user.slice/user-1000.slice";
  for (const auto& [path, words] : std::vector<PathCase>{
           {"/system.slice/train.service", "systemd system.slice train.service"},
           {"/system.slice/train.service/worker/3", "systemd system.slice train.service"},
           {"/system.slice/system-train.slice/train@1.service", "systemd system-train.slice train@1.service"},
           {"/batch.slice/batch-gpu.slice/run-u7.service", "systemd batch-gpu.slice run-u7.service"},
           {"/batch.slice/job42", "systemd batch.slice job42"},
           {"/batch.slice", "systemd batch.slice batch.slice"},
           {"/init.scope", "systemd -.slice init.scope"},
           {"/system.slice/dbus.socket", "systemd system.slice dbus.socket"},
           {"/system.slice/train.service (deleted)", "systemd system.slice train.service"},
           {alice + "/session-3.scope", "systemd alice session-3.scope"},
           {alice + "/session-3.scope/x.service", "systemd alice session-3.scope"},
           {alice + "/user@1000.service/init.scope", "systemd alice init.scope"},
           {alice + "/user@1000.service/app.slice/app-x.scope", "systemd alice app-x.scope"},
           {alice + "/user@1000.service/app.slice/app-gnome.slice/a.service/b.scope", "systemd alice a.service"},
           {alice + "/user@1000.service", "systemd alice user@1000.service"},
           {alice + "/user@1000.service/any/thing.scope", "systemd alice user@1000.service"},
           {alice, "systemd alice user-1000.slice"},
           {"/user.slice/user-4711.slice/session-1.scope", "systemd 4711 session-1.scope"},
           {"/user.slice/user-x.slice/session-1.scope", "systemd user-x.slice session-1.scope"},
           {"/user.slice/user-99999999999.slice/session-1.scope", "systemd user-99999999999.slice session-1.scope"},
           {"/user.slice", "systemd user.slice user.slice"},
           {"/x.service", "unknown unknown x.service"},
           {"/x/system.slice/y.service", "unknown unknown y.service"},
           {"/", "unknown unknown /"},
           {"/../..", "unknown unknown .."},
       }) {
    CAPTURE(path);
    CHECK(site.words(path) == words);
  }
  CHECK(site.tell(in_cgroup("/system.slice/train.service/x")).tenant.unit == "train.service");
  // Whose uid the process has does not matter: the slice is the user's.
  CHECK(site.words(in_cgroup(alice + "/session-3.scope", 0)) == "systemd alice session-3.scope");
}
