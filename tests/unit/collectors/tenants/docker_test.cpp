// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "unit/collectors/tenants/site.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

const std::string kNamed = "77" + kId.substr(2), kShort = kId.substr(0, 12);

}  // namespace

TEST_CASE("docker's cgroups", "[tenants.docker]") {
  TenantSite site;
  site.tree.file("var/lib/docker/containers/" + kNamed + "/config.v2.json",
                 R"({"ID":"x","Config":{"Labels":{"Name":"/label"}},"Name":"/trainer","State":{}})");
  for (const auto& [path, words] : std::vector<PathCase>{
           {"/docker/" + kNamed, "docker container trainer"},
           {"/system.slice/docker-" + kNamed + ".scope", "docker container trainer"},
           {"/system.slice/docker-" + kId + ".scope", "docker container " + kShort},
           {"/system.slice/docker-" + kId + ".scope/init.scope", "docker container " + kShort},
           {"/docker/" + kId + "/system.slice/ssh.service", "docker container " + kShort},
           {"/docker/buildkit/" + kId, "docker container " + kShort},
           {"/system.slice/docker.service/docker/" + kId, "docker container " + kShort},
           {"/batch.slice/batch-gpu.slice/docker-" + kNamed + ".scope", "docker container trainer"},
           {"/ecs/0a1b2c3d4e5f60718293a4b5c6d7e8f9/" + kNamed, "docker container trainer"},
           {"/ecstasks.slice/ecstasks-0a1b2c3d.slice/docker-" + kNamed + ".scope", "docker container trainer"},
           {"/../" + std::string("docker/") + kNamed, "docker container trainer"},
           {"/system.slice/nerdctl-" + kId + ".scope", "containerd container " + kShort},
           {"/default/" + kId, "containerd container " + kShort},
           // docker in docker: the outer one
           {"/docker/" + kNamed + "/docker/" + kId, "docker container trainer"},
       }) {
    CAPTURE(path);
    CHECK(site.words(path) == words);
  }
}

TEST_CASE("what only looks like docker's", "[tenants.docker]") {
  TenantSite site;
  for (const std::string& path : {
           "/user.slice/user-1000.slice/user@1000.service/docker/" + kId,
           "/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" + kId + ".scope",
           "/system.slice/alice.service/docker-" + kId + ".scope",
           "/x/docker/" + kId,
           "/x/docker-" + kId + ".scope",
           "/docker-" + kId + ".scope",
           std::string("/docker"),
           std::string("/docker/../../etc/passwd"),
           std::string("/docker/a b c d e"),
           std::string("/system.slice/docker-.scope"),
       }) {
    CAPTURE(path);
    CHECK(site.tell(in_cgroup(path)).tenant.tenant != "container");
  }
}
