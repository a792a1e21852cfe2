// SPDX-License-Identifier: Apache-2.0
// The counter sets of one device: what each id means now, whom its events are credited to, and when they have been.
//
// A set (struct rdma_counter) counts what its member queue pairs do, from 0. It dies with its last member; the kernel asks it once more
// and the BPF side tells what it said (CounterReleased). Another set may have the id at once. So each set here lives from the call
// or the reading that showed it until its release is told, and a value is credited to the set that had the id when it was read.
//
// Ours are those that the daemon made: credited to the tenant they were made for. Others' are credited to a tenant only as long as every
// member is its own. Nothing is credited twice: if a value is lower than before, it is not this set's (or the device started again),
// and counting begins anew there.
//
// Pure; not thread-safe: the device's own thread keeps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/counter_total.h"
#include "core/event.h"
#include "core/qp_record.h"
#include "core/tenant_ledger.h"

namespace qpscope {

using CounterValues = std::vector<std::pair<std::string, std::uint64_t>>;  // in the driver's order

struct CounterSet {
  PortNum port;
  CounterSetId id;
  bool ours = false;
  bool kernel = false;           // ours: for kernel queue pairs, which never share a set with users'
  std::optional<TenantKey> who;  // credited to; empty: members of several tenants, or of none that is known
  std::optional<QpKey> focus;    // ours: for this queue pair alone
  BootTime asked, made;          // the call that made it was sent and had returned; 0: it was there
  CounterValues last;            // as last read; empty: not read yet
  std::vector<Qpn> members;      // as last read, and what we did since

  // Counted on behalf of one queue pair since the set is known; empty once there were two.
  std::optional<Qpn> only;
  std::map<std::string, std::uint64_t> only_totals;
};

// What outlives the daemon: our own sets.
struct SetImage {
  struct Set {
    std::uint32_t port = 0, id = 0;
    bool kernel = false;
    TenantKey who;
    CounterValues last;
    friend bool operator==(const Set&, const Set&) = default;
  };
  std::vector<Set> sets;
  // Ports whose mode was NONE before we made sets there: what is found there later and is not in `foreign` was made by us.
  std::vector<std::uint32_t> ports;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> foreign;  // port, id
  friend bool operator==(const SetImage&, const SetImage&) = default;
};

class SetBook {
 public:
  static constexpr std::size_t kMost = 1024;     // sets of a device; a function of mlx5 has at most 255
  static constexpr double kReleaseSeconds = 5;   // how long the last word of a set that is gone is waited for

  // What a set counts of `counter`, and how wide; nullopt: it is listed and never counts (mlx5: CNP, ECN).
  using Counts = std::function<std::optional<CounterKind>(std::string_view counter)>;
  // The tenant of a queue pair; nullopt: nobody knows, or there is none.
  using WhoseQp = std::function<std::optional<TenantKey>(PortNum port, Qpn qpn)>;

  SetBook() = default;
  explicit SetBook(const SetImage& image);
  void counts(Counts counts) { counts_ = std::move(counts); }

  // --- what the actuator did
  void manage(PortNum port);        // its mode was NONE: sets there are ours from now on
  void abandon(PortNum port);       // nothing of ours is left there
  bool managed(PortNum port) const;
  CounterSet& make(CounterSet set);  // a new one; of an id that another has, that one waits for its last word
  void credit_to(CounterSetId id, const TenantKey& who);
  void join(CounterSetId id, Qpn qpn);
  void leave(CounterSetId id, Qpn qpn);

  // --- what the kernel said
  struct Row {
    CounterSetId id;
    std::vector<Qpn> members;
    CounterValues counters;
  };
  // All sets of a port, read between `from` and `to`. Feed the releases that were told before `from` first.
  // Not `complete`: what is not in it may still be there.
  void read(PortNum port, std::span<const Row> rows, bool complete, BootTime from, BootTime to, TenantLedger& ledger, const WhoseQp& whose);
  void released(const CounterReleased& event, TenantLedger& ledger);
  // Releases may have been lost: those that are waited for are not waited for any longer.
  void releases_lost();
  void tick(BootTime now);

  // Every set is read, and none waits for its last word: what was credited is all there is.
  bool settled(PortNum port) const;

  // --- reading
  const CounterSet* find(CounterSetId id) const;
  std::vector<const CounterSet*> sets(PortNum port) const;
  std::vector<const CounterSet*> sets() const;
  std::uint64_t missed() const { return missed_; }  // sets whose last word was not heard
  std::optional<CounterKind> kind(std::string_view counter) const { return counts_ ? counts_(counter) : std::nullopt; }

  bool take_changed();
  SetImage image() const;

 private:
  struct Gone {
    CounterSet set;
    BootTime since;
  };
  void take(CounterSet& set, const CounterValues& values, TenantLedger& ledger, BootTime now);
  void credit(CounterSet& set, const std::string& name, std::uint64_t events, TenantLedger& ledger, BootTime now) const;
  void adopt(PortNum port, const Row& row, bool since_last, BootTime to, TenantLedger& ledger, const WhoseQp& whose);
  void remember_members(CounterSet& set, const std::vector<Qpn>& members);

  Counts counts_;
  std::map<CounterSetId, CounterSet> sets_;  // an id is the device's, not the port's
  std::list<Gone> gone_;                     // the oldest first
  std::map<PortNum, std::vector<std::string>> names_;  // of a port's sets, as last listed
  std::map<PortNum, bool> read_;                       // ports that were read completely
  std::map<PortNum, bool> managed_;                    // true: by this run
  std::vector<std::pair<std::uint32_t, std::uint32_t>> foreign_;
  std::uint64_t missed_ = 0;
  bool changed_ = false;
};

}  // namespace qpscope
