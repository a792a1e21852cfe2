// SPDX-License-Identifier: Apache-2.0
// Who had queue pairs on a port, and when: did one tenant have it for itself? Pure: no I/O, no clock, no lock; whoever has the QpTable
// holds its mutex here too.
//
// A life is the time in which a queue pair can carry traffic: from the event that gave it a port to its end. SMI, GSI and the
// driver's own queue pairs have none (carries_tenant_traffic). Its tenant is learnt later and may be learnt better still later; then the whole
// life was the new one's: the same owner has got another name.
//
// What is known is known from some time on (`trust`), and not at all while a device is in doubt: queue pairs came or went without
// an event, or events were lost. Whoever can compare with the kernel trusts again. Of lives that have ended, a device keeps kMostSpans times in
// which a tenant had queue pairs of a port; where there are more, the one that ended first is forgotten, and all up to its end is unknown.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/ids.h"
#include "core/qp_record.h"

namespace qpscope {

// Not those that exist for the port's own sake: they are nobody's and belong to everybody.
bool carries_tenant_traffic(const QpRecord& qp);

struct PortVerdict {
  enum class Is : std::uint8_t {
    none,     // there was no queue pair
    sole,     // all were `tenant`'s
    shared,   // at least two tenants had some
    pending,  // one of these, once a tenant is known: ask again
    unknown,  // and it will not be known
  };
  Is is = Is::unknown;
  TenantId tenant = 0;  // of `sole`; of `pending` the one that is known already, if any
  friend bool operator==(const PortVerdict&, const PortVerdict&) = default;
};
// Of several ports, or several times, that only count together.
PortVerdict operator+(const PortVerdict& a, const PortVerdict& b);

class PortOwners {
 public:
  static constexpr std::size_t kMostSpans = 64;
  // Of an object whose port nobody tells: it counts on every port of its device.
  static constexpr PortNum kEveryPort{0};

  // --- lives. `at` of an event may be a little before that of the one told before it.
  // It has that port from now on; its tenant is pending. A life that had another port goes on as its tenant's.
  void begins(QpKey qp, PortNum port, BootTime at);
  enum class Final : bool { no, yes };
  // It is and always was that tenant's; TenantMap::kUnknown and kOther are nobody. Final::no: it may be told again. What was told as
  // final can be told anew too, only that the old tenant may then seem to have come earlier than it did.
  void owned(QpKey qp, TenantId tenant, Final final);
  void renamed(QpKey from, QpKey to);
  // A life whose tenant is still pending was nobody's.
  void ends(QpKey qp, BootTime at);
  // It is not followed any more, and nobody knows how it goes on. Only together with doubt().
  void forget(QpKey qp);

  // --- what is known
  void doubt(DeviceIndex device);
  void doubt_all();
  // Something is there for good that nothing tells of: no trust any more until the device goes.
  void forfeit(DeviceIndex device);
  // All lives of the device are known at `at`.
  void trust(DeviceIndex device, BootTime at);
  bool in_doubt(DeviceIndex device) const;
  std::uint64_t doubts() const { return doubts_; }  // how often anything was doubted
  void drop_device(DeviceIndex device);

  // Of all that lived between the two, both included. What has not been told yet is not in it: ask about the past only.
  PortVerdict verdict(DeviceIndex device, PortNum port, BootTime from, BootTime to) const;
  // Tenants that a verdict may name, with repetitions.
  std::vector<TenantId> tenants() const;

 private:
  struct Life {
    PortNum port;
    BootTime since;
    std::optional<TenantId> tenant;  // empty: pending
    bool final = false;
  };
  struct Share {
    PortNum port;
    TenantId tenant;
    friend auto operator<=>(const Share&, const Share&) = default;
  };
  // Lives whose tenant is final, all of a share together. Each was alive when it joined the others, so their times have no gap.
  struct Presence {
    std::size_t lives = 0;
    BootTime since;
  };
  struct Span {
    Share share;
    BootTime from, to;
  };
  struct Device {
    std::optional<BootTime> known_from;  // empty: in doubt
    bool forfeited = false;
    std::map<Share, Presence> present;
    std::unordered_set<std::uint64_t> open;  // serials of lives whose tenant is not final
    std::vector<Span> past;
  };
  Life* find(QpKey qp);
  void enter(QpKey qp, const Life& life);
  void leave(QpKey qp, const Life& life, std::optional<BootTime> at);
  static void remember(Device& device, Span span);

  struct Hash {
    std::size_t operator()(const QpKey& key) const noexcept { return key.serial.value * 0x9e3779b97f4a7c15ULL ^ key.device.value; }
  };
  std::unordered_map<QpKey, Life, Hash> lives_;
  std::unordered_map<DeviceIndex, Device> devices_;
  std::uint64_t doubts_ = 0;
};

}  // namespace qpscope
