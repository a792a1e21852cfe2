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

  std::map<std::pair<DeviceIndex, TenantId>, std::size_t> counts() const;  // of those that exist
  std::size_t size() const { return objects_.size(); }

 private:
  // Beside the serials of queue pairs, as kSeeded is.
  static constexpr std::uint64_t kDevx = std::uint64_t{1} << 62;
  struct Object {
    QpKey handle;
    std::shared_ptr<const Owner> owner;
    BootTime created;
    TenantId tenant = 0;
  };
  void create(const DevxObject& event, std::shared_ptr<const Owner> owner);
  void erase(QpKey key);

  PortOwners& owners_;
  const std::size_t limit_;
  std::map<QpKey, Object> objects_;
  std::map<QpKey, QpKey> keys_;  // by handle: the kernel gives those out again
  std::set<QpKey> waiting_, unsettled_;
  std::uint64_t next_ = 1;
};

}  // namespace qpscope
