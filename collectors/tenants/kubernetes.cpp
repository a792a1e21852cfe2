// SPDX-License-Identifier: Apache-2.0
// Kubernetes pods. The kubelet makes kubepods, the QoS level and the pod's cgroup; the runtime makes the container's:
//   systemd   /kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid>.slice/cri-containerd-<id>.scope
//   cgroupfs  /kubepods/burstable/pod<uid>/<id>
//   mixed     /system.slice/containerd.service/kubepods-burstable-pod<uid>.slice:cri-containerd:<id>   (drivers that disagree)
// A guaranteed pod has no QoS level; in systemd's names the uid has "_" for "-". All of it may lie below /kubelet, a slice of the
// kubelet's --cgroup-root, or the service of a runtime (pkg/kubelet/cm, libcontainer, containerd and CRI-O).
// What lies below the container is the tenant's. Names come from pod_names.h.
#include <algorithm>
#include <array>

#include "collectors/tenants/path.h"
#include "collectors/tenants/pattern.h"
#include "collectors/tenants/pod_names.h"
#include "collectors/tenants/pod_workload.h"
#include "collectors/tenants/sources.h"

namespace qpscope {
namespace {

struct PodPlace {
  std::string uid;                // with "-"; empty: seen from within the pod
  std::string_view container_id;  // empty: a process of the pod, of no container
};

// 36 characters, or 32 of a static pod. The place in the path is what says that it is one, so that more need not be asked.
bool is_uid(std::string_view text) {
  return text.size() >= 8 && text.size() <= 64 && text.find_first_not_of("0123456789abcdefABCDEF-_") == std::string_view::npos;
}

// Services that start containers into cgroups below their own.
bool is_runtime(std::string_view unit) {
  constexpr std::array<std::string_view, 11> names{"containerd.service", "crio.service",      "docker.service",       "cri-docker.service",
                                                   "kubelet.service",    "k3s.service",       "k3s-agent.service",    "rke2-server.service",
                                                   "rke2-agent.service", "k0sworker.service", "k0scontroller.service"};
  return std::ranges::find(names, unit) != names.end() || unit.starts_with("snap.microk8s.");
}

// "pod<uid>", "kubepods-burstable-pod<uid>.slice", the latter also before ":cri-containerd:<id>".
std::optional<PodPlace> pod_of(std::string_view element) {
  PodPlace place;
  if (const auto colon = element.find(':'); colon != std::string_view::npos) {
    const auto id = element.rfind(':');
    if (id == colon) return std::nullopt;
    place.container_id = element.substr(id + 1);
    element = element.substr(0, colon);
    if (!is_slice(element) || !is_container_id(place.container_id)) return std::nullopt;
  }
  std::string_view uid = element;
  if (is_slice(element)) {
    uid.remove_suffix(std::string_view(".slice").size());
    const auto at = uid.find("kubepods");
    if (at == std::string_view::npos) return std::nullopt;
    uid.remove_prefix(at);
    const auto pod = uid.find("-pod");
    if (pod == std::string_view::npos) return std::nullopt;
    uid.remove_prefix(pod + 1);
  }
  if (!uid.starts_with("pod")) return std::nullopt;
  uid.remove_prefix(3);
  if (!is_uid(uid)) return std::nullopt;
  place.uid = uid;
  std::ranges::replace(place.uid, '_', '-');
  return place;
}

std::string_view container_of(std::string_view element) {
  for (const std::string_view before : {"cri-containerd-", "crio-conmon-", "crio-", "docker-", "cri-o-", "containerd-", "libpod-"}) {
    if (const auto id = id_between(element, before, ".scope")) return *id;
    if (const auto id = id_between(element, before, "")) return *id;
  }
  return is_container_id(element) ? element : std::string_view();
}

bool is_qos(std::string_view element) { return element == "burstable" || element == "besteffort" || element == "guaranteed"; }

std::optional<PodPlace> place_of(const CgroupPath& path) {
  std::size_t at = 0;
  bool inside = path.relative();  // seen from a pod: the path may begin anywhere in the chain
  if (path[0] == "system.slice" && is_runtime(path[1])) {
    at = 2;
    if (const auto mixed = pod_of(path[at]); mixed && !mixed->container_id.empty()) return mixed;
  } else if (path[0] == "kubelet" || path[0] == "kubelet.slice") {
    at = 1;
  } else if (is_slice(path[0]) && path[1].starts_with(path[0].substr(0, path[0].size() - 6)) && path[1].ends_with("-kubepods.slice")) {
    at = 1;  // --cgroup-root: x.slice/x-kubepods.slice
  } else if (const auto mixed = pod_of(path[0]); mixed && !mixed->container_id.empty()) {
    return mixed;
  }
  if (path[at] == "kubepods" || path[at] == "kubepods.slice" || path[at].ends_with("-kubepods.slice")) {
    inside = true;
    ++at;
  }
  if (!inside) return std::nullopt;
  if (is_qos(path[at]) || path[at].ends_with("kubepods-burstable.slice") || path[at].ends_with("kubepods-besteffort.slice")) ++at;
  auto place = pod_of(path[at]);
  if (!place && path.relative() && path[at].ends_with(".scope") && !container_of(path[at]).empty())
    return PodPlace{{}, container_of(path[at])};
  if (place && place->container_id.empty()) place->container_id = container_of(path[at + 1]);
  return place;
}

class Kubernetes : public TenantResolver {
 public:
  explicit Kubernetes(const SourceContext& context) : names_(context.root, context.now) {
    for (const std::string& text : context.config.kubernetes.workload_patterns) {
      if (auto pattern = Pattern::compile(text)) patterns_.push_back(std::move(*pattern));
    }
  }
  std::string_view name() const override { return "kubernetes"; }

  std::optional<Attribution> resolve(const Owner& owner) override {
    if (!owner.known || !owner.user) return std::nullopt;
    const CgroupPath path(owner.cgroup_path);
    const auto place = place_of(path);
    if (!place) return std::nullopt;
    const auto found = names_.find(place->uid, place->container_id);
    if (!found && place->uid.empty()) return std::nullopt;
    if (!found) return Attribution{.tenant = {.tenant = "unknown", .workload = "pod" + place->uid, .kind = "kubernetes"}, .settled = false};
    return Attribution{.tenant = {.tenant = found->k8s_namespace,
                                  .workload = workload(found->pod),
                                  .kind = "kubernetes",
                                  .k8s_namespace = found->k8s_namespace},
                       .k8s_pod = found->pod,
                       .k8s_container = found->container,
                       .settled = !found->container.empty() || place->container_id.empty()};
  }

 private:
  // The site's patterns before ours.
  std::string workload(const std::string& pod) const {
    for (const Pattern& pattern : patterns_) {
      if (auto name = pattern.first_group(pod); name && !name->empty()) return std::move(*name);
    }
    return pod_workload(pod);
  }

  PodNames names_;
  std::vector<Pattern> patterns_;
};

}  // namespace

std::unique_ptr<TenantResolver> make_kubernetes(const SourceContext& context) { return std::make_unique<Kubernetes>(context); }

}  // namespace qpscope
