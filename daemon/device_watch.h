// SPDX-License-Identifier: Apache-2.0
// Waits for a signal, for news of RDMA devices, or for time to pass. Main thread only; SIGTERM and SIGINT must be blocked.
//
// News make us look sooner. Without any the daemon looks every sampling.interval all the same.
#pragma once

#include <signal.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/host/device_news.h"
#include "collectors/host/fd.h"
#include "core/clock.h"
#include "core/metric.h"

namespace qpscope {

// SIGTERM and SIGINT: what ends the daemon.
sigset_t stop_signals();

class DeviceWatch {
 public:
  // `live`: this machine's own devices; else nobody tells news.
  explicit DeviceWatch(bool live);

  struct Woken {
    int signal = 0;                    // SIGTERM or SIGINT
    bool news = false;                 // of devices
    std::vector<std::string> netdevs;  // devices whose ports have got or lost a netdev
  };
  // Until then at most; sooner also without a reason. News within a tenth of a second come at once.
  Woken wait(BootTime until);
  // How many devices there are: ib_core may have come with the first, and with it a better way to hear of the others.
  void devices(std::size_t count);

  // Counters from the daemon's start, as self_samples().
  SampleList samples() const;

 private:
  void listen(DeviceListener::How how);

  Fd signals_;
  const bool live_;
  BootTime heard_;      // when there was news last
  BootTime again_;      // when to look again after a device was said to go; 0: not
  double pause_ = 0;    // until then
  bool tried_ = false;  // RDMA netlink, with the devices that there are
  std::optional<DeviceListener> listener_;
  std::map<std::string_view, std::uint64_t> counts_;
};

MetricList device_watch_metrics();

}  // namespace qpscope
