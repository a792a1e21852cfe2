// SPDX-License-Identifier: Apache-2.0
#include "collectors/memory_regions.h"

#include <array>
#include <tuple>

namespace qpscope {
namespace {

constexpr LabelNames kWhose{"tenant", "workload", "device", "memory"};
constexpr MetricDef kRegions{"qpscope_tenant_memory_regions", MetricType::gauge,
                             "Memory regions that are registered; memory is odp where the driver tells of paging on demand, else pinned, of the host or of a GPU (RDMA "
                             "netlink RES_MR_GET).", kWhose};
constexpr MetricDef kBytes{"qpscope_tenant_memory_region_bytes", MetricType::gauge,
                           "Bytes of the memory regions that are registered; memory of several regions counts in each (RDMA netlink RES_MR_GET).", kWhose};
constexpr std::array<const MetricDef*, 2> kMetrics{&kRegions, &kBytes};

}  // namespace

MetricList memory_region_metrics() { return kMetrics; }

SampleList memory_region_samples(const MemoryTable::Counts& counts, std::span<const Tenant> tenants, const std::map<DeviceIndex, std::string>& devices) {
  SampleList out;
  for (const auto& [key, count] : counts) {
    const auto& [device, tenant, on_demand] = key;
    const auto name = devices.find(device);
    if (name == devices.end()) continue;
    const Tenant& who = tenants[tenant];
    const Labels labels{who.tenant, who.workload, name->second, on_demand ? "odp" : "pinned"};
    out.push_back(sample(kRegions, labels, static_cast<double>(count.regions)));
    out.push_back(sample(kBytes, labels, static_cast<double>(count.bytes)));
  }
  return out;
}

}  // namespace qpscope
