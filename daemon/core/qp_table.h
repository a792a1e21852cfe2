// SPDX-License-Identifier: Apache-2.0
// Every queue pair on this host: fed by events, seeded and reconciled from netlink. Pure: no I/O, no clock, no lock.
//
// Identity. A QPN is reused at once, is 0 or 1 for SMI and GSI on every port, exists on several devices, and the driver
// frees it inside ib_destroy_qp_user: the next owner's create can be seen before the old owner's destroy returns.
// So a QP is (device, serial); (device, restrack id) only names its present holder, and an event that carries another
// serial than the holder's changes nothing.
//
// Threads: none of its own; the owner holds a mutex around every call.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/event.h"
#include "core/port_owners.h"
#include "core/qp_record.h"
#include "core/qp_turns.h"
#include "core/suspicion.h"

namespace qpscope {

// Bounds of queue_pair_setup_seconds: from create to RTS.
inline constexpr std::array<double, 10> kSetupBounds{0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5};

struct QpTotals {
  struct Transition {
    DeviceIndex device;
    PortNum port;
    QpType type;
    std::optional<QpState> from;  // empty: the table did not know
    QpState to;
    friend auto operator<=>(const Transition&, const Transition&) = default;
  };
  struct Kind {
    DeviceIndex device;
    QpType type;
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };
  struct Failure {
    DeviceIndex device;
    QpCallFailed::Call call;
    int error;
    friend auto operator<=>(const Failure&, const Failure&) = default;
  };
  struct Setup {
    std::array<std::uint64_t, kSetupBounds.size() + 1> counts{};
    double sum = 0;
  };
  // For each device and type: seeded + created - destroyed = present, plus those of `evicted` that events told of.
  std::map<Kind, std::uint64_t> seeded, created, destroyed;
  std::map<Transition, std::uint64_t> transitions;
  std::map<Failure, std::uint64_t> failures;
  std::map<DeviceIndex, Setup> setup;
  std::map<std::pair<DeviceIndex, PortNum>, std::uint64_t> found_in_err;  // netlink said ERR where no event had
  std::uint64_t evicted = 0;            // not or no longer kept because the table was full
  std::uint64_t drift_table_only = 0;   // the table had a QP that the kernel did not
  std::uint64_t drift_kernel_only = 0;  // the kernel had a QP that the table did not
};

class QpTable {
 public:
  // At `limit` QPs the tenant that holds most of them gives way, so that churn of one cannot push out the others.
  explicit QpTable(std::size_t limit);

  // --- events; each is idempotent
  void apply(const QpCreated& event, std::shared_ptr<const Owner> owner, TenantId tenant);
  void apply(const QpModified& event);
  void apply(const QpDestroyed& event);
  void apply(const QpCallFailed& event);
  void note_async(QpKey key, std::uint32_t event);  // below 32; nothing for one that is gone

  // --- netlink
  // Brackets a dump: the device's QPs destroyed in between are remembered, so that a row read earlier does not raise the dead.
  void dump_begins(DeviceIndex device);
  // Some rows of a dump that runs, each row once: those that the table has no QP for.
  std::vector<QpRow> dump_goes_on(const QpDump& part);
  // The whole dump: the QPs that should have been in it; gone only if a single RES_QP_GET says ENOENT.
  std::vector<QpRecord> dump_ends(const QpDump& dump);
  // What one answer says of a QP asked for at `asked`: the state is adopted unless an event changed it since.
  void refresh(QpKey key, const QpRow& row, BootTime asked);
  void note_asked(QpKey key, BootTime asked);  // and nothing came of it
  enum class Why : std::uint8_t {
    seed,   // it was there before the daemon
    found,  // without events a later dump is how a new QP shows, and how an old one is missed
    drift,  // an event should have told of it
  };
  // Adds a QP known from netlink only. False if its number has a holder by now, or there is no room.
  bool add(DeviceIndex device, const QpRow& row, std::shared_ptr<const Owner> owner, TenantId tenant, BootTime now, Why why);
  // Takes away a QP that the kernel does not have. False if it is gone already.
  bool remove_vanished(QpKey key, Why why);
  void drop_device(DeviceIndex device);
  // The BPF side is not to be trusted: everything that came from it goes.
  void drop_bpf();
  // The BPF side begins anew, with other serials, and misses events meanwhile: what it told of is from now on as if netlink had told it. Those that
  // netlink never tells of go.
  void forget_serials();

  // --- attribution: whoever reads the files that name tenants is slower than events are
  struct Waiting {
    QpKey key;
    std::shared_ptr<const Owner> owner;
    BootTime seen;  // its creator lived then
  };
  // QPs with an owner whose tenant was not asked for yet; none is told twice.
  std::vector<Waiting> take_waiting();
  enum class Settled : bool { no, yes };
  // Does nothing for a QP that is gone. Settled::no: it waits again after the next retry_unsettled().
  void attribute(QpKey key, std::shared_ptr<const Owner> owner, TenantId tenant, Settled settled = Settled::yes);
  void retry_unsettled();

  // --- counter sets: queue pairs that can be bound to one, and whose tenant has been looked for
  static bool countable(const QpRecord& record);
  // Up to `most` of the device that became so or changed since they were told; each once, tenants in turn. Not `from_bpf`: those that BPF
  // told of wait.
  std::vector<QpRecord> take_countable(DeviceIndex device, std::size_t most, bool from_bpf);
  void retell_countable(DeviceIndex device);
  bool has_countable(DeviceIndex device) const;
  std::size_t count_countable(DeviceIndex device, PortNum port) const;

  // --- reading
  const QpRecord* find(QpKey key) const;
  const QpRecord* holder(DeviceIndex device, QpType type, Qpn qpn, PortNum port) const;
  std::size_t size() const { return records_.size(); }
  std::size_t tracked(DeviceIndex device) const;  // those that netlink counts
  std::uint64_t version() const { return version_; }  // of everything
  std::uint64_t events(DeviceIndex device) const;     // QPs of this device that came or went so far
  const QpTotals& totals() const { return totals_; }
  std::vector<QpRecord> all() const;  // sorted by key
  std::vector<TenantId> tenants() const;  // those that have QPs, in any order
  // Who had the QPs, and when. What came or went otherwise than by an event puts the device in doubt.
  PortOwners& owners() { return owners_; }
  // Up to `most` QPs of the device that netlink lists, in key order after `from`, starting again at the end.
  std::vector<QpRecord> next_tracked(DeviceIndex device, QpKey from, std::size_t most) const;
  // Up to `most` QPs that netlink lists and one of `suspicions` is about: not known to be in ERR, there before it and not asked about
  // since. Those of a tenant that is suspect itself come first, then those that can send; last come those that changed in the 10 s before it.
  std::vector<QpRecord> suspects(DeviceIndex device, std::span<const Suspicion> suspicions, std::size_t most) const;
  // Up to `most` user QPs that the BPF side told of and that netlink can answer for, newest first.
  std::vector<QpRecord> newest_from_bpf(DeviceIndex device, std::size_t most) const;

 private:
  struct HolderKey {
    DeviceIndex device;
    std::uint32_t id;
    friend bool operator==(const HolderKey&, const HolderKey&) = default;
  };
  struct Hash {
    static std::size_t mix(std::uint64_t a, std::uint64_t b) noexcept { return (a ^ (b * 0x9e3779b97f4a7c15ULL)) * 0xff51afd7ed558ccdULL >> 7; }
    std::size_t operator()(const QpKey& k) const noexcept { return mix(k.serial.value, k.device.value); }
    std::size_t operator()(const HolderKey& k) const noexcept { return mix(k.id, k.device.value); }
  };

  QpRecord* locate(const QpIdentity& qp);
  QpRecord* insert(QpRecord record);
  enum class Gone : std::uint8_t { ended, vanished, evicted };
  void erase(const QpRecord& record, Gone how, BootTime at = {});  // `at` of one that ended, by an event
  void set_port(QpRecord& record, PortNum port, BootTime at);
  void follow(const QpRecord& record, BootTime at);
  void lost_sight(DeviceIndex device, bool tracked);
  void rekey(QpRecord& old, QpSerial serial);
  bool make_room(TenantId newcomer);
  void bury(HolderKey id);
  void change_state(QpRecord& record, QpState to, BootTime at);
  void tell(const QpRecord& record);
  void untell(const QpRecord& record);
  void give(QpRecord& record, std::shared_ptr<const Owner> owner, TenantId tenant);
  static HolderKey holder_key(const QpRecord& record);

  std::size_t limit_;
  std::unordered_map<QpKey, QpRecord, Hash> records_;
  std::unordered_map<HolderKey, QpKey, Hash> holders_;  // tracked QPs only: a no_track DCT has number 0 like its brothers
  std::unordered_set<QpKey, Hash> waiting_, unsettled_;  // for their tenant; only QPs that are in records_
  std::unordered_map<DeviceIndex, QpTurns> countable_;   // not told yet, by their present tenant; only QPs that are in records_
  std::unordered_map<TenantId, std::size_t> per_tenant_;
  std::unordered_map<DeviceIndex, std::size_t> tracked_;
  std::unordered_set<HolderKey, Hash> tombstones_;  // destroyed while a dump of their device runs, which may hang
  std::unordered_map<DeviceIndex, std::size_t> dumps_running_;
  std::unordered_map<DeviceIndex, std::uint64_t> events_;
  std::uint64_t next_seeded_ = 1;
  std::uint64_t generations_ = 0;
  std::uint64_t version_ = 0;
  QpTotals totals_;
  PortOwners owners_;
};

}  // namespace qpscope
