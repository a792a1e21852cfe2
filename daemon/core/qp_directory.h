// SPDX-License-Identifier: Apache-2.0
// What the threads of the devices ask of the queue pair side: whose a queue pair is, which ones can be counted in sets of their own,
// and what the kernel told of sets that are gone. Thread-safe; nothing here waits for hardware.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/event.h"
#include "core/qp_record.h"
#include "core/tenant_ledger.h"

namespace qpscope {

// A queue pair that netlink can bind to a counter set: tracked, with a port, and not GSI, SMI or the driver's own.
struct CountableQp {
  QpKey key;
  PortNum port;
  Qpn qpn;
  bool kernel = false;           // a kernel consumer's
  bool seeded = false;           // it was there before us
  std::optional<TenantKey> who;  // empty: nobody knows
};

class QpDirectory {
 public:
  virtual ~QpDirectory() = default;

  // What the kernel told before the call is in every answer after it.
  virtual void catch_up() = 0;
  // Are creates, destroys and releases of counter sets all told?
  virtual bool events_on() const = 0;

  // Every queue pair that was there before us is known, and none waits for its tenant.
  virtual bool all_known() const = 0;

  // Up to `most` queue pairs of the device that became countable, or another tenant's, since they were told; each once. Those whose
  // tenant may still come are not told.
  virtual std::vector<CountableQp> take_countable(const std::string& device, std::size_t most) = 0;
  // Tells all of them once more.
  virtual void retell(const std::string& device) = 0;
  virtual std::optional<CountableQp> find(const std::string& device, QpKey key) = 0;
  // The present holder of the number.
  virtual std::optional<CountableQp> holder(const std::string& device, PortNum port, Qpn qpn) = 0;
  virtual std::size_t countable(const std::string& device, PortNum port) = 0;

  // Counter sets of the device that are gone, in the order of their going, since this was asked last.
  struct Released {
    std::vector<CounterReleased> events;
    bool lost = false;  // there may have been more
  };
  virtual Released take_released(const std::string& device) = 0;

  // Called, on any thread and for a moment, when there is something to take. An empty function ends it.
  virtual void on_news(const std::string& device, std::function<void()> wake) = 0;
};

}  // namespace qpscope
