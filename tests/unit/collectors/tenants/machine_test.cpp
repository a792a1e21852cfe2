// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "unit/collectors/tenants/site.h"

using namespace qpscope;
using namespace qpscope::test;

TEST_CASE("system containers", "[tenants.machine]") {
  TenantSite site;
  for (const auto& [path, words] : std::vector<PathCase>{
           {"/lxc.payload.c1/system.slice/ssh.service", "lxc container c1"},
           {"/lxc.payload/c1", "lxc container c1"},
           {"/lxc/c1/init.scope", "lxc container c1"},
           {"/lxc.monitor.c1", "lxc container c1"},
           {"/lxc.payload.c1/docker/" + kId, "lxc container c1"},
           {"/machine.slice/machine-web\\x2d1.scope/payload/system.slice/x.service", "nspawn container web-1"},
           {"/machine.slice/systemd-nspawn@web.service/payload", "nspawn container web"},
           {"/machine.slice/machine-a\\x2.scope", "nspawn container a\\x2"},
           {"/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator", "systemd machine.slice machine-qemu\\x2d1\\x2dvm.scope"},
           {"/lxc.payload.", "unknown unknown lxc.payload."},
           {"/lxc", "unknown unknown lxc"},
           {"/x/lxc/c1", "unknown unknown c1"},
           {"/user.slice/user-1000.slice/user@1000.service/lxc.payload.c1", "systemd alice user@1000.service"},
       }) {
    CAPTURE(path);
    CHECK(site.words(path) == words);
  }
}
