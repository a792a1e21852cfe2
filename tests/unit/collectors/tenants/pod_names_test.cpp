// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenants/pod_names.h"

#include <catch2/catch.hpp>

#include "unit/collectors/tenants/site.h"

using namespace qpscope;
using namespace qpscope::test;

TEST_CASE("names of log folders and links", "[tenants.pod_names]") {
  const auto pod = parse_pod_folder("kube-system_etcd-node.example.com_" + kUid);
  REQUIRE(pod);
  CHECK(pod->first == kUid);
  CHECK(pod->second.k8s_namespace == "kube-system");
  CHECK(pod->second.pod == "etcd-node.example.com");
  for (const std::string_view bad : {"", "_", "__", "a_b", "a__b", "_a_b", "a_b_", "lost+found"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_pod_folder(bad));
  }
  const auto container = parse_container_log("trainer-0_ml_main-app-" + kId + ".log");
  REQUIRE(container);
  CHECK(container->first == kId);
  CHECK(container->second.k8s_namespace == "ml");
  CHECK(container->second.pod == "trainer-0");
  CHECK(container->second.container == "main-app");
  for (const std::string_view bad :
       {"", ".log", "a_b_c-d", "a_b.log", "a_b_c.log", "a_b_-d.log", "a_b_c-.log", "_b_c-d.log", "a__c-d.log", "a-b_c_d.log"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_container_log(bad));
  }
}

TEST_CASE("folders are listed again for what is missing, and in time for what is there", "[tenants.pod_names]") {
  TenantSite site;
  PodNames names(site.root, site.clock.fn());
  CHECK_FALSE(names.find(kUid, kId));
  site.pod("ml", "a-0", kUid, "main", kId);
  CHECK_FALSE(names.find(kUid, kId));
  site.clock.pass(1.1);
  CHECK(names.find(kUid, kId).value().pod == "a-0");
  std::filesystem::remove_all(site.tree.at("var/log"));
  site.clock.pass(50);
  CHECK(names.find(kUid, kId));
  site.clock.pass(11);
  CHECK_FALSE(names.find(kUid, kId));
}

TEST_CASE("the container's log alone names the pod", "[tenants.pod_names]") {
  TenantSite site;
  site.tree.link("var/log/containers/a-0_ml_main-" + kId + ".log", "/x");
  PodNames names(site.root, site.clock.fn());
  const auto name = names.find(kUid, kId);
  REQUIRE(name);
  CHECK(name->k8s_namespace == "ml");
  CHECK(name->container == "main");
  CHECK_FALSE(names.find(kUid, ""));
}
