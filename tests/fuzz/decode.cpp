// SPDX-License-Identifier: Apache-2.0
// Records of the ring, each behind its length in two bytes: events or nothing, and a queue pair table and a cgroup map that stay
// within their bounds whatever these say.
#include "bpf/decode.h"

#include <memory>
#include <variant>

#include "bpf/events.h"
#include "core/rdma_events.h"
#include "core/cgroup_map.h"
#include "core/devx_table.h"
#include "core/qp_table.h"
#include "fuzz/fuzz.h"

using namespace qpscope;
using fuzz::check;

namespace {

constexpr std::size_t kQueuePairs = 4, kCgroups = 4, kDevxObjects = 4;

struct Apply {
  QpTable& table;
  CgroupMap& cgroups;
  DevxTable& devx;

  void operator()(const QpCreated& event) const {
    check(event.owner.comm.size() <= EV_COMM_LEN && event.owner.kern_name.size() <= EV_KERN_NAME_LEN, "names are within their fields");
    check(!event.owner.comm.contains('\0') && !event.owner.kern_name.contains('\0'), "names end at their first NUL");
    table.apply(event, std::make_shared<const Owner>(event.owner), event.owner.user ? 1 : 0);
  }
  void operator()(const QpModified& event) const {
    check(!event.to || static_cast<unsigned>(*event.to) <= static_cast<unsigned>(QpState::err), "a state is one of the kernel's");
    check(!event.path_mtu || (*event.path_mtu >= 256 && *event.path_mtu <= 4096), "an MTU is one of the kernel's");
    table.apply(event);
  }
  void operator()(const QpDestroyed& event) const { table.apply(event); }
  void operator()(const QpCallFailed& event) const {
    check(event.error >= 0 && event.error <= 4095, "an error is an errno");
    table.apply(event);
  }
  void operator()(const AsyncEvent& event) const {
    check(event.event < EV_ASYNC_EVENTS && !async_event_name(event.event).empty(), "an event is one of few");
    if (event.qp) table.note_async({event.qp->device, event.qp->serial}, event.event);
  }
  void operator()(const CmEvent& event) const {
    check(event.event < EV_ASYNC_EVENTS && cm_reason(event.event, event.status).size() < 32, "a reason is one of few");
    check(event.source.size() < 64 && event.destination.size() < 64, "an address is short");
  }
  void operator()(const CgroupChanged& event) const {
    check(event.path.size() <= EV_PATH_LEN && !event.path.contains('\0'), "a path is within its field and ends at its first NUL");
    cgroups.apply(event);
  }
  void operator()(const CounterReleased& event) const { check(event.values.size() <= EV_COUNTER_VALUES, "a set has no more values than its event"); }
  void operator()(const DevxObject& event) const {
    check(event.owner.comm.size() <= EV_COMM_LEN, "names are within their fields");
    devx.apply(event, std::make_shared<const Owner>(event.owner));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input in(data, size);
  QpTable table(kQueuePairs);
  CgroupMap cgroups(kCgroups, 60);
  DevxTable devx(table.owners(), kDevxObjects);
  while (!in.empty()) {
    const std::string_view bytes = in.bytes(in.number<std::uint16_t>());
    // A block of exactly its size.
    const auto record = std::make_unique_for_overwrite<std::byte[]>(bytes.size());
    if (!bytes.empty()) std::memcpy(record.get(), bytes.data(), bytes.size());
    const auto event = decode({record.get(), bytes.size()});
    if (!event) continue;
    std::visit(Apply{table, cgroups, devx}, *event);
    check(table.size() <= kQueuePairs, "the table keeps its bound");
    check(table.all().size() == table.size(), "the table lists what it counts");
    check(cgroups.size() <= kCgroups, "the map of cgroups keeps its bound");
    check(devx.size() <= kDevxObjects, "the table of DEVX objects keeps its bound");
  }
  const QpTotals& totals = table.totals();
  std::map<QpTotals::Kind, std::uint64_t> present;
  for (const QpRecord& one : table.all()) ++present[{one.key.device, one.type}];
  if (totals.evicted == 0) {
    for (const auto& [kind, created] : totals.created) {
      const auto of = [&](const auto& map) { return map.contains(kind) ? map.at(kind) : 0; };
      check(of(totals.seeded) + created - of(totals.destroyed) == of(present), "seeded + created - destroyed = present");
    }
  }
  return 0;
}
