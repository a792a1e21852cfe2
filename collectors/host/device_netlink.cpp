// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/device_netlink.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

namespace qpscope {
namespace {

class KernelNetlink : public DeviceNetlink {
 public:
  explicit KernelNetlink(std::string device) : device_(std::move(device)) {}

  Result<NlPort> port(PortNum port) override {
    return with([&](Nldev& nldev, DeviceIndex index) { return nldev.port(index, port); });
  }
  Result<NlCounters> port_counters(PortNum port) override {
    return with([&](Nldev& nldev, DeviceIndex index) { return nldev.port_counters(index, port); });
  }
  Result<NlCounterMode> counter_mode(PortNum port) override {
    return with([&](Nldev& nldev, DeviceIndex index) { return nldev.counter_mode(index, port); });
  }
  Result<NlCounterSets> counter_sets(PortNum port) override {
    return with([&](Nldev& nldev, DeviceIndex index) { return nldev.counter_sets(index, port); });
  }
  Result<CounterSetId> bind_to_new_set(PortNum port, Qpn qpn) override {
    return with([&](Nldev& nldev, DeviceIndex index) { return nldev.bind_to_new_set(index, port, qpn); });
  }
  Result<> bind_to_set(PortNum port, Qpn qpn, CounterSetId id) override {
    return with([&](Nldev& nldev, DeviceIndex index) { return nldev.bind_to_set(index, port, qpn, id); });
  }
  Result<> unbind(PortNum port, Qpn qpn, CounterSetId id) override {
    return with([&](Nldev& nldev, DeviceIndex index) { return nldev.unbind(index, port, qpn, id); });
  }

 private:
  template <class Call>
  auto with(Call call) -> decltype(call(std::declval<Nldev&>(), DeviceIndex{})) {
    if (const auto found = find(); !found) return std::unexpected(found.error());
    auto answer = call(*nldev_, *index_);
    if (!answer && answer.error().sys_errno == EINVAL) index_.reset();
    return answer;
  }

  Result<> find() {
    if (!nldev_) {
      auto opened = Nldev::open();
      if (!opened) return std::unexpected(std::move(opened.error()));
      nldev_ = std::move(*opened);
    }
    if (index_) return {};
    const auto devices = nldev_->devices();
    if (!devices) return std::unexpected(devices.error());
    const auto found = std::ranges::find(*devices, device_, &NlDevice::name);
    if (found == devices->end()) return std::unexpected(io_error("RDMA netlink: " + device_, ENODEV));
    index_ = found->index;
    return {};
  }

  const std::string device_;
  std::optional<Nldev> nldev_;
  std::optional<DeviceIndex> index_;
};

}  // namespace

std::unique_ptr<DeviceNetlink> device_netlink(const std::string& device) { return std::make_unique<KernelNetlink>(device); }

}  // namespace qpscope
