// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "unit/collectors/tenants/site.h"

using namespace qpscope;
using namespace qpscope::test;

TEST_CASE("a pod's cgroups", "[tenants.kubernetes]") {
  TenantSite site;
  site.pod("ml", "trainer-0", kUid, "main", kId);
  site.tree.folder("var/log/pods/ml_trainer-0_" + kUid + "/sidecar");
  const std::string burstable = "kubepods-burstable-pod" + kUid_ + ".slice",
                    slices = "/kubepods.slice/kubepods-burstable.slice/" + burstable;
  for (const std::string& path : {
           // systemd driver
           slices + "/cri-containerd-" + kId + ".scope",
           slices + "/crio-" + kId + ".scope",
           slices + "/crio-" + kId + ".scope/container",
           slices + "/crio-conmon-" + kId + ".scope",
           slices + "/docker-" + kId + ".scope",
           "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + kUid_ + ".slice/cri-containerd-" + kId + ".scope",
           "/kubepods.slice/kubepods-pod" + kUid_ + ".slice/cri-containerd-" + kId + ".scope",
           "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod" + kUid_ +
               ".slice/cri-containerd-" + kId + ".scope",
           // cgroupfs driver
           "/kubepods/burstable/pod" + kUid + "/" + kId,
           "/kubepods/besteffort/pod" + kUid + "/" + kId,
           "/kubepods/pod" + kUid + "/" + kId,
           "/kubepods/burstable/pod" + kUid + "/crio-" + kId,
           "/kubelet/kubepods/burstable/pod" + kUid + "/" + kId,
           "/system.slice/k3s.service/kubepods/besteffort/pod" + kUid + "/" + kId,
           "/system.slice/snap.microk8s.daemon-containerd.service/kubepods/pod" + kUid + "/" + kId,
           // drivers that disagree
           "/system.slice/containerd.service/" + burstable + ":cri-containerd:" + kId,
           "/" + burstable + ":cri-containerd:" + kId,
           slices + ":cri-containerd:" + kId,
           "/kubepods/burstable/" + burstable + ":crio:" + kId,
           // from within: a container's own cgroup namespace
           "/../../../kubepods-burstable.slice/" + burstable + "/cri-containerd-" + kId + ".scope",
           "/../../" + burstable + "/cri-containerd-" + kId + ".scope",
           "/../../pod" + kUid + "/" + kId,
           "/../cri-containerd-" + kId + ".scope",
           // what a container makes inside of itself
           slices + "/cri-containerd-" + kId + ".scope/kubepods/besteffort/pod11111111-2222-3333-4444-555555555555/" + kId,
           slices + "/cri-containerd-" + kId + ".scope/docker/" + kId,
           slices + "/cri-containerd-" + kId + ".scope/system.slice/slurmstepd.scope/job_1/step_0",
       }) {
    CAPTURE(path);
    const auto [tenant, named] = site.tell(in_cgroup(path, 0));
    CHECK(tenant == Tenant{.tenant = "ml", .workload = "trainer"});
    CHECK(tenant.kind == "kubernetes");
    CHECK(tenant.k8s_namespace == "ml");
    CHECK(named.k8s_pod == "trainer-0");
    CHECK(named.k8s_container == "main");
    CHECK(named.settled);
  }
}

TEST_CASE("a pod of which less is known", "[tenants.kubernetes]") {
  TenantSite site;
  const std::string path = "/kubepods/burstable/pod" + kUid + "/" + kId;
  auto told = site.tell(in_cgroup(path));
  CHECK(told.tenant == Tenant{.tenant = "unknown", .workload = "pod" + kUid});
  CHECK(told.tenant.kind == "kubernetes");
  CHECK_FALSE(told.named.settled);

  site.tree.folder("var/log/pods/ml_trainer-0_" + kUid + "/main");
  told = site.tell(in_cgroup(path));
  CHECK(told.tenant == Tenant{.tenant = "ml", .workload = "trainer"});
  CHECK(told.named.k8s_container == "main");  // the only one

  site.tree.folder("var/log/pods/ml_trainer-0_" + kUid + "/sidecar");
  told = site.tell(in_cgroup(path));
  CHECK(told.named.k8s_container.empty());
  CHECK_FALSE(told.named.settled);
  // A process of the pod itself has none.
  told = site.tell(in_cgroup("/kubepods/burstable/pod" + kUid));
  CHECK(told.named.k8s_pod == "trainer-0");
  CHECK(told.named.k8s_container.empty());
  CHECK(told.named.settled);

  site.pod("kube-system", "etcd-node1", kStaticUid, "etcd", kId);
  CHECK(site.words("/kubepods.slice/kubepods-pod" + kStaticUid + ".slice/cri-containerd-" + kId + ".scope") ==
        "kubernetes kube-system etcd");
}

TEST_CASE("names that come, and a place that is given again", "[tenants.kubernetes]") {
  TenantSite site;
  TenantMap map(site.resolvers(), 10);
  const Owner owner = in_cgroup("/kubepods/burstable/pod" + kUid + "/" + kId);
  CHECK_FALSE(map.resolve(owner, {}).settled);
  site.pod("ml", "trainer-0", kUid, "main", kId);
  CHECK_FALSE(map.resolve(owner, {}).settled);  // looked a moment ago
  site.clock.pass(1.1);
  CHECK(map.resolve(owner, {}).k8s_pod == "trainer-0");
}

TEST_CASE("what only looks like a pod", "[tenants.kubernetes]") {
  TenantSite site;
  site.pod("ml", "trainer-0", kUid, "main", kId);
  for (const std::string& path : {
           "/user.slice/user-1000.slice/user@1000.service/kubepods/burstable/pod" + kUid + "/" + kId,
           "/user.slice/user-1000.slice/user@1000.service/kubepods-pod" + kUid_ + ".slice:cri-containerd:" + kId,
           "/system.slice/alice.service/kubepods/burstable/pod" + kUid + "/" + kId,
           "/system.slice/alice.service/kubepods-pod" + kUid_ + ".slice:cri-containerd:" + kId,
           "/docker/" + kId + "/kubepods/burstable/pod" + kUid + "/" + kId,
           "/system.slice/docker-" + kId + ".scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + kUid_ +
               ".slice/cri-containerd-" + kId + ".scope",
           "/lxc.payload.c1/kubepods/pod" + kUid + "/" + kId,
           "/pod" + kUid + "/" + kId,
           std::string("/kubepods"),
           std::string("/kubepods/burstable"),
           std::string("/kubepods/burstable/pod"),
           "/kubepods/burstable/pod../../" + kUid,
           "/kubepods/x/pod" + kUid + "/" + kId,
           "/kubepods.slice/x.service/kubepods-pod" + kUid_ + ".slice",
       }) {
    CAPTURE(path);
    CHECK(site.tell(in_cgroup(path)).tenant.kind != "kubernetes");
  }
}

TEST_CASE("a site's own patterns come first", "[tenants.kubernetes]") {
  TenantSite site;
  site.pod("ml", "llm-blue-7", kUid, "main", kId);
  const Owner owner = in_cgroup("/kubepods/pod" + kUid + "/" + kId);
  CHECK(site.words(owner) == "kubernetes ml llm-blue");
  site.config.kubernetes.workload_patterns = {"web-(.*)", "(llm)-(?:blue|green)-[0-9]+", "(.*)"};
  CHECK(site.words(owner) == "kubernetes ml llm");
  site.config.kubernetes.workload_patterns = {"llm-()blue-7", "llm-blue-7"};  // nothing in the group, no group
  CHECK(site.words(owner) == "kubernetes ml llm-blue");
}
