// SPDX-License-Identifier: Apache-2.0
// The answer to core/ownership.h: which ports go together, and whether the timeline of their queue pairs (core/port_owners.h) is to be
// trusted. Once a second a survey
//   - reads from sysfs which devices share a physical port,
//   - hears whether any event was missed, and takes over all that came until that was asked: if one was, all devices are in doubt,
//   - compares those in doubt with netlink's count of queue pairs, and trusts them if it agrees,
//   - on mlx5 asks netlink which user contexts are older than the probes. What they hold besides queue pairs of netlink's (DEVX objects,
//     DCTs) nobody tells: until it ends, each counts as an object of the process that opened it.
// Up to there all is decided, what came after is pending. A count that agrees after a loss does not prove that the same queue
// pairs are meant: a lost end and a lost beginning of two tenants would go unnoticed until the reconciler's sweep finds the dead one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collectors/host/host.h"
#include "collectors/physical_port.h"
#include "core/clock.h"
#include "core/devx_table.h"
#include "core/ownership.h"
#include "core/qp_table.h"
#include "core/tenant_map.h"

namespace qpscope {

class PortOwnership : public Ownership {
 public:
  struct Hooks {
    ClockFn now;
    std::function<void()> drain;                                    // deliver every event that the kernel has submitted
    struct Missed {
      std::uint64_t number = 0;  // another one than before: events may be missing
      BootTime as_of;            // the kernel was asked
    };
    std::function<Missed()> missed;
    std::function<bool()> reliable;                                 // all events of queue pairs are seen, and owners are read rightly
    std::function<bool()> devx_seen;                                // DEVX objects are seen, or there can be none
    std::function<Result<std::uint32_t>(DeviceIndex)> count;        // queue pairs, by netlink
    std::function<Result<std::vector<DevxTable::Context>>(DeviceIndex)> contexts;  // of user space, by netlink
    std::function<Result<std::string>(const std::string&)> driver;  // of a device; asked once
  };
  PortOwnership(const Sysroot& root, QpTable& table, DevxTable& devx, std::mutex& table_mutex, const TenantMap& tenants, Hooks hooks);

  // May wait for netlink; on one thread.
  void survey(const std::map<DeviceIndex, std::string>& devices);
  Verdict sole_owner(const std::string& device, PortNum port, BootTime from, BootTime to) override;

 private:
  using DevicePort = std::pair<std::string, PortNum>;
  struct Device {
    std::string name, driver;
  };
  struct Physical {
    std::shared_ptr<const PhysicalPort> looks;
    BootTime since;  // it looks like this
    std::vector<std::pair<DeviceIndex, PortNum>> ports;
    bool whole = true;  // netlink knows each of them
  };
  Physical physical(std::shared_ptr<const PhysicalPort> looks, const std::map<std::string, DeviceIndex>& indices, const Physical* before) const;
  void meet(const std::map<DeviceIndex, std::string>& devices);
  void look_at_contexts(DeviceIndex index);
  void compare(DeviceIndex index);
  void publish(bool reliable, BootTime until);

  const Sysroot& root_;
  QpTable& table_;
  DevxTable& devx_;
  std::mutex& table_mutex_;
  const TenantMap& tenants_;
  const Hooks hooks_;

  // The survey's own.
  std::map<DeviceIndex, Device> devices_;
  std::uint64_t missed_ = 0;
  std::set<DeviceIndex> contexts_known_;

  std::mutex mutex_;  // guards what follows; may be held when table_mutex_ is taken, not the other way round
  bool reliable_ = false;
  BootTime surveyed_;
  std::map<DevicePort, std::shared_ptr<const Physical>> ports_;  // those that go together share one
};

}  // namespace qpscope
