// SPDX-License-Identifier: Apache-2.0
// Queue pairs that a kernel module made (nvme_rdma, rpcrdma, smc, ib_core's own GSI): tenant "kernel", workload the module.
#include "collectors/tenants/sources.h"

namespace qpscope {
namespace {

class KernelConsumer : public TenantResolver {
 public:
  std::string_view name() const override { return "kernel_consumer"; }

  std::optional<Attribution> resolve(const Owner& owner) override {
    if (!owner.known || owner.user) return std::nullopt;
    return Attribution{.tenant = {.tenant = "kernel", .workload = owner.kern_name.empty() ? "unknown" : owner.kern_name, .kind = "kernel"}};
  }
};

}  // namespace

std::unique_ptr<TenantResolver> make_kernel_consumer() { return std::make_unique<KernelConsumer>(); }

}  // namespace qpscope
