// SPDX-License-Identifier: Apache-2.0
// What one device's thread asks of RDMA netlink. An interface, so that they can be tried without a kernel.
#pragma once

#include <memory>
#include <string>

#include "collectors/host/nldev.h"

namespace qpscope {

// One thread, which also destroys it: the socket is in that thread's descriptor table. Costs and errors as in nldev.h; a device
// that netlink does not know is ErrorCode::not_found.
class DeviceNetlink {
 public:
  virtual ~DeviceNetlink() = default;
  virtual Result<NlPort> port(PortNum port) = 0;
  virtual Result<NlCounters> port_counters(PortNum port) = 0;
  virtual Result<NlCounterMode> counter_mode(PortNum port) = 0;
  virtual Result<NlCounterSets> counter_sets(PortNum port) = 0;
  // These change the host.
  virtual Result<CounterSetId> bind_to_new_set(PortNum port, Qpn qpn) = 0;
  virtual Result<> bind_to_set(PortNum port, Qpn qpn, CounterSetId id) = 0;
  virtual Result<> unbind(PortNum port, Qpn qpn, CounterSetId id) = 0;
};

// The kernel's. The socket is opened by the first question; the device is found by its name, again after each EINVAL: one that came
// back has another index.
std::unique_ptr<DeviceNetlink> device_netlink(const std::string& device);

}  // namespace qpscope
