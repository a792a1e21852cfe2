// SPDX-License-Identifier: Apache-2.0
// What is known at one moment: immutable once published, shared by reference. Exporters see nothing else. Only the histories go on: they are
// one and the same in every snapshot.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/metric.h"
#include "core/qp_counters.h"
#include "core/qp_record.h"
#include "core/status.h"
#include "core/tenant.h"

namespace qpscope {

class EventHistory;
class PortHistory;

struct Snapshot {
  std::uint64_t sequence = 0;
  BootTime at;
  std::vector<SharedSamples> samples;                      // devices, queue pair totals, ourselves
  std::shared_ptr<const std::vector<QpRecord>> queue_pairs;  // by key
  std::shared_ptr<const std::vector<Tenant>> tenants;      // indexed by TenantId
  std::shared_ptr<const std::map<DeviceIndex, std::string>> devices;  // names by netlink index
  std::map<QpKey, QpCounters> qp_counters;                 // of those that are alone in a counter set
  std::shared_ptr<const Status> status;                    // ourselves; null in tests that do not need it, as are the next two
  std::shared_ptr<const PortHistory> port_history;
  std::shared_ptr<const EventHistory> events;
};

// Where exporters take the newest snapshot from. Thread-safe; never blocks on hardware. Null until the first is published.
class SnapshotSource {
 public:
  virtual ~SnapshotSource() = default;
  virtual std::shared_ptr<const Snapshot> latest() const = 0;
};

}  // namespace qpscope
