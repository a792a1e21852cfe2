// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "unit/collectors/tenants/site.h"

using namespace qpscope;
using namespace qpscope::test;

TEST_CASE("podman's cgroups", "[tenants.podman]") {
  TenantSite site;
  const std::string other = "88" + kId.substr(2);
  site.tree.file("var/lib/containers/storage/overlay-containers/containers.json",
                 R"([{"id":"1","names":["no"]},{"id":")" + kId + R"(","names":["trainer","x"],"metadata":"{\"name\":\"fake\"}"}])");
  for (const auto& [path, words] : std::vector<PathCase>{
           {"/machine.slice/libpod-" + kId + ".scope", "podman container trainer"},
           {"/machine.slice/libpod-" + kId + ".scope/container", "podman container trainer"},
           {"/machine.slice/libpod-conmon-" + kId + ".scope", "podman container trainer"},
           {"/machine.slice/machine-libpod_pod_" + other + ".slice/libpod-" + kId + ".scope", "podman container trainer"},
           {"/libpod_parent/libpod-" + kId, "podman container trainer"},
           {"/machine.slice/libpod-" + other + ".scope", "podman container " + other.substr(0, 12)},
           {"/machine.slice/libpod-" + other + ".scope/libpod-" + kId + ".scope", "podman container " + other.substr(0, 12)},
           // a user's own: the user's
           {"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + kId + ".scope", "systemd alice libpod-" + kId + ".scope"},
           {"/user.slice/user-1000.slice/user@1000.service/libpod_parent/libpod-" + kId, "systemd alice user@1000.service"},
           {"/system.slice/app.service/libpod-payload-" + kId, "systemd system.slice app.service"},
           {"/libpod-" + kId, "unknown unknown libpod-" + kId},
       }) {
    CAPTURE(path);
    CHECK(site.words(path) == words);
  }
}
