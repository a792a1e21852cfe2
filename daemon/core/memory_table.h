// SPDX-License-Identifier: Apache-2.0
// The memory regions of this host's RDMA devices as netlink lists them, and whose they are. Pure: no I/O, no clock, no lock; used under
// the QpTable's mutex. A region keeps the owner it was first seen with: netlink names the thread that registered it only while that lives
// (core/nldev.c fill_res_name_pid). One that is first seen when its thread has ended is nobody's that is known.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/qp_table.h"

namespace qpscope {

struct MemoryRegion {
  std::uint32_t number = 0;  // RDMA_NLDEV_ATTR_RES_MRN: of a device, given out in turn, so that a number is not soon another's
  Pid tid;                   // the thread that registered it; 0: gone, of another pid namespace, or a kernel consumer's
  std::string kern_name;     // of a kernel consumer
  std::uint64_t bytes = 0;   // 0 for kernel consumers, whose regions have memory only while they are used
  bool on_demand = false;    // ODP, where the driver tells (mlx5)
  friend bool operator==(const MemoryRegion&, const MemoryRegion&) = default;
};

class MemoryTable {
 public:
  // Is any region that is here missing in `present`? Then ask once more: a list taken while regions go leaves others out.
  bool misses(DeviceIndex device, std::span<const MemoryRegion> present) const;
  // What the device has now; of a region that is told twice the first holds.
  void replace(DeviceIndex device, std::span<const MemoryRegion> present, BootTime now);
  // Nothing is known of it any more.
  void drop_device(DeviceIndex device);
  std::vector<DeviceIndex> devices() const;

  // Attribution, as in QpTable; the keys are those of holders.
  std::vector<QpTable::Waiting> take_waiting();
  void attribute(QpKey key, std::shared_ptr<const Owner> owner, TenantId tenant, QpTable::Settled settled);
  void retry_unsettled();

  struct Count {
    std::size_t regions = 0;
    std::uint64_t bytes = 0;
  };
  using Counts = std::map<std::tuple<DeviceIndex, TenantId, bool>, Count>;  // by on_demand
  Counts counts() const;
  std::vector<TenantId> tenants() const;  // that hold memory, each once

 private:
  // Whose regions are alike: those of one thread, or of one kernel module, on a device.
  struct Holder {
    std::tuple<DeviceIndex, Pid, std::string> who;
    std::shared_ptr<const Owner> owner;
    TenantId tenant = 0;
    BootTime seen;
    Count pinned, on_demand;
  };
  struct Region {
    QpKey holder;
    std::uint64_t bytes = 0;
    bool on_demand = false;
  };
  using Regions = std::unordered_map<std::uint32_t, Region>;  // by number

  QpKey holder_of(DeviceIndex device, const MemoryRegion& region, BootTime now);
  void remove(const Region& region);

  std::map<DeviceIndex, Regions> regions_;
  std::map<QpKey, Holder> holders_;
  std::map<std::tuple<DeviceIndex, Pid, std::string>, QpKey> open_;  // holders that further regions may join
  std::set<QpKey> waiting_, unsettled_;
  std::uint64_t next_ = 1;
};

}  // namespace qpscope
