// SPDX-License-Identifier: Apache-2.0
// Asynchronous events and what the connection manager says: into the history, with owner and peer, and into counters. The owner is that of the object, which
// the event names; who happened to run when it came is nobody.
//
// Threads: on_…() on the events thread; told() on the resolver's; the rest on the main thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/event.h"
#include "core/event_history.h"
#include "core/metric.h"
#include "core/qp_record.h"
#include "core/tenant.h"

namespace qpscope {

class KernelEvents {
 public:
  struct Hooks {
    std::function<std::string(DeviceIndex)> device;  // its name; empty: it is not watched
    // Who it is, later, on the resolver's thread: that takes files. False where too many wait: then nobody is named.
    std::function<bool(const Owner&, BootTime, std::function<void(const Owner&, const Tenant&)>)> whose;
  };
  KernelEvents(EventHistory& history, Hooks hooks) : history_(history), hooks_(std::move(hooks)) {}

  // `qp` and `tenant` where the event is of a queue pair that is known.
  void on_async(const AsyncEvent& event, const QpRecord* qp, const Tenant* tenant);
  void on_cm(const CmEvent& event);

  // Ports that the kernel said came up or went down since the last call.
  struct PortNews {
    std::string device;
    PortNum port;
    bool up = false;
    BootTime at;
  };
  std::vector<PortNews> take_port_news();

 private:
  static constexpr std::size_t kMostNews = 256;

  void tell(HistoryKind kind, HistoryEvent&& event, const Owner& owner);

  EventHistory& history_;
  const Hooks hooks_;
  std::mutex mutex_;  // guards what follows
  std::vector<PortNews> news_;
};

// As counters from the probes' first load: those of devices that have a name.
SampleList kernel_event_samples(const std::vector<EventCount>& counts, const std::map<DeviceIndex, std::string>& devices);
MetricList kernel_event_metrics();

}  // namespace qpscope
