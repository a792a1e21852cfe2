// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenant_info.h"

#include <array>
#include <set>
#include <tuple>

namespace qpscope {
namespace {

constexpr MetricDef kInfo{
    "qpscope_tenant_info", MetricType::gauge,
    "A tenant and workload with queue pairs or registered memory, and the system that tells of it; labels are empty where that has no such thing (cgroup paths; "
    "/etc/passwd, /var/log/pods, /var/lib/docker).",
    LabelNames{"tenant", "workload", "kind", "slurm_job", "slurm_user", "k8s_namespace", "unit"}};
constexpr MetricDef kMember{"qpscope_tenant_member_info", MetricType::gauge,
                            "A pod's container with queue pairs (/var/log/pods, /var/log/containers).",
                            LabelNames{"tenant", "workload", "k8s_pod", "k8s_container"}};
constexpr MetricDef kDropped{"qpscope_tenant_members_dropped",
                             MetricType::gauge,
                             "Containers with queue pairs for which qpscope_tenant_member_info has no room.",
                             {}};
constexpr std::array<const MetricDef*, 3> kMetrics{&kInfo, &kMember, &kDropped};

}  // namespace

MetricList tenant_metrics() { return kMetrics; }

SampleList tenant_samples(std::span<const QpRecord> records, std::span<const TenantId> with_memory, std::span<const Tenant> tenants) {
  std::set<TenantId> in_use(with_memory.begin(), with_memory.end());
  std::set<std::tuple<TenantId, std::string_view, std::string_view>> members;
  for (const QpRecord& qp : records) {
    in_use.insert(qp.tenant);
    if (qp.owner && !qp.owner->k8s_pod.empty()) members.emplace(qp.tenant, qp.owner->k8s_pod, qp.owner->k8s_container);
  }
  SampleList out;
  for (const TenantId id : in_use) {
    const Tenant& t = tenants[id];
    out.push_back(sample(kInfo, {t.tenant, t.workload, t.kind, t.slurm_job, t.slurm_user, t.k8s_namespace, t.unit}, 1));
  }
  std::size_t room = kMostMembers;
  for (const auto& [id, pod, container] : members) {
    if (room == 0) break;
    --room;
    out.push_back(sample(kMember, {tenants[id].tenant, tenants[id].workload, std::string(pod), std::string(container)}, 1));
  }
  out.push_back(sample(kDropped, {}, static_cast<double>(members.size() - (kMostMembers - room))));
  return out;
}

}  // namespace qpscope
