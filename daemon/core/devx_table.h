// SPDX-License-Identifier: Apache-2.0
// The objects of this host that move traffic and that ib_core does not know (DevxObject): whose they are, and how many. Pure: no I/O, no
// clock, no lock; used under the QpTable's mutex, whose PortOwners it feeds. Nobody else can tell of them, netlink least of all: one that came
// before the probes is not here, and one that finds no room puts its device out of the question for good (PortOwners::forfeit).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/event.h"
#include "core/port_owners.h"
#include "core/qp_table.h"

namespace qpscope {

class DevxTable {
 public:
  static constexpr std::size_t kMost = 65536;

  explicit DevxTable(PortOwners& owners, std::size_t limit = kMost) : owners_(owners), limit_(limit) {}

  // `owner`: of one that is created, completed by what the caller knows.
  void apply(const DevxObject& event, std::shared_ptr<const Owner> owner);
  void drop_device(DeviceIndex device);
  // The BPF side is not to be trusted: all came from it.
  void clear();

  // Attribution, as in QpTable.
  std::vector<QpTable::Waiting> take_waiting();
  void attribute(QpKey key, std::shared_ptr<const Owner> owner, TenantId tenant, QpTable::Settled settled);
  void retry_unsettled();

  // User contexts of a device that exist. A context that is older than the probes may hold what nobody tells of: until it ends it counts as an
  // object of whoever opened it, though not in counts(). `new_ones`: those that are not here yet are older too.
  struct Context {
    std::uint32_t number = 0;  // RDMA_NLDEV_ATTR_RES_CTXN: given out in turn, so that a number is not soon another's
    std::shared_ptr<const Owner> owner;
  };
  void contexts(DeviceIndex device, const std::vector<Context>& present, bool new_ones, BootTime now);
  bool has_contexts(DeviceIndex device) const;

  using Counts = std::map<std::pair<DeviceIndex, TenantId>, std::size_t>;
  Counts counts() const;  // of those that exist
  std::size_t size() const { return objects_.size(); }

 private:
  // Beside the serials of queue pairs, as kSeeded is.
  static constexpr std::uint64_t kDevx = std::uint64_t{1} << 62;
  struct Object {
    QpKey handle;
    bool context = false;  // `handle` is its number
    std::shared_ptr<const Owner> owner;
    BootTime created;
    TenantId tenant = 0;
  };
  void insert(QpKey handle, bool context, std::shared_ptr<const Owner> owner, BootTime at);
  void erase(QpKey key);

  PortOwners& owners_;
  const std::size_t limit_;
  std::map<QpKey, Object> objects_;
  std::map<QpKey, QpKey> keys_, contexts_;  // by handle: the kernel gives those out again
  std::set<QpKey> waiting_, unsettled_;
  std::uint64_t next_ = 1;
};

}  // namespace qpscope
