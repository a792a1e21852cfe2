// SPDX-License-Identifier: Apache-2.0
// RDMA netlink as the reconciler's QpSource. One thread.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "collectors/host/nldev.h"
#include "reconciler.h"

namespace qpscope {

class NldevSource : public QpSource {
 public:
  Result<std::vector<std::pair<DeviceIndex, std::string>>> devices() override;
  Result<std::unique_ptr<QpDumping>> dump(DeviceIndex device) override;
  Result<QpRow> get(DeviceIndex device, PortNum port, QpType type, Qpn qpn) override;
  Result<std::uint32_t> count(DeviceIndex device) override;
  // User contexts. An error also where they change too fast to be told.
  Result<std::vector<NlContext>> contexts(DeviceIndex device);
  Result<std::vector<MemoryRegion>> memory_regions(DeviceIndex device);
  void close() override { nldev_.reset(); }

 private:
  // Opened when first wanted: ib_core may load after the daemon.
  template <class Call>
  auto with(Call call) -> decltype(call(std::declval<Nldev&>()));
  std::optional<Nldev> nldev_;
};

}  // namespace qpscope
