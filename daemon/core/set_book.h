// SPDX-License-Identifier: Apache-2.0
// The counter sets of one device: what each id means now, whom its events are credited to, and when they have been.
//
// A set (struct rdma_counter) counts what its member queue pairs do, from 0. It dies with its last member; the kernel asks it once more
// and the BPF side tells what it said (CounterReleased). Another set may have the id at once. So each set here lives from the call
// or the reading that showed it until its release is told, and a value is credited to the set that had the id when it was read.
//
// Ours are those that the daemon made: credited to the tenant they were made for. Others' are credited to a tenant only while every
// member is its own. Nothing is credited twice: a value lower than before is another set's (or the device started again), and
// counting begins anew there.
//
// Pure; not thread-safe: the device's own thread keeps it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/counter_total.h"
#include "core/event.h"
#include "core/qp_directory.h"
#include "core/qp_record.h"
#include "core/tenant_ledger.h"

namespace qpscope {

using CounterValues = std::vector<std::pair<std::string, std::uint64_t>>;  // in the driver's order

struct SetKey {
  PortNum port;
  CounterSetId id;
  friend auto operator<=>(const SetKey&, const SetKey&) = default;
};

struct CounterSet {
  SetKey key;
  bool ours = false;
  bool kernel = false;           // ours: for kernel queue pairs, which never share a set with users'
  std::optional<TenantKey> who;  // credited to; empty: members of several tenants, or of none that is known
  std::optional<QpKey> focus;    // ours: for this queue pair alone
  BootTime asked, made;          // the call that made it was sent, and had returned; 0: it was there
  std::vector<Qpn> members;      // as last read, and what we did since
  CounterValues last;            // as last read; empty: not read yet
  BootTime read_at;
  bool seen = false;             // by this run of the daemon
  bool mixed = false;            // others': two tenants were in it

  // What it counted for the one queue pair that was ever seen in it.
  std::optional<Qpn> only;
  std::map<std::string, std::uint64_t> only_totals;
};

// What outlives the daemon: our own sets.
struct SetImage {
  struct Set {
    SetKey key;
    bool kernel = false;
    TenantKey who;
    CounterValues last;
    friend bool operator==(const Set&, const Set&) = default;
  };
  std::vector<Set> sets;
  std::set<PortNum> managed;  // ports whose mode was NONE before we made sets there: others' sets on them are in `foreign`
  std::set<SetKey> foreign;
  friend bool operator==(const SetImage&, const SetImage&) = default;
};

class SetBook {
 public:
  static constexpr std::size_t kMost = 1024;    // sets of a device, and as many that are gone; a function of mlx5 has at most 255
  static constexpr double kReleaseSeconds = 5;  // how long the last word of a set that is gone is waited for

  // What a set counts by this name, and which counter of the port it is a part of; nullopt: it is listed and never counts (mlx5: CNP, ECN).
  struct Part {
    CounterKind kind;
    PortCounter of;
    std::uint64_t per = 1;  // so many of the set's are one of the port's
  };
  using Counts = std::function<std::optional<Part>(std::string_view counter)>;
  // The tenant of a queue pair; nullopt: nobody knows, or there is none.
  using WhoseQp = std::function<std::optional<TenantKey>(PortNum port, Qpn qpn)>;

  SetBook() = default;
  explicit SetBook(const SetImage& image);
  void counts(Counts counts) { counts_ = std::move(counts); }

  // --- what we did
  void manage(PortNum port);   // its mode was NONE: sets there are ours from now on
  void abandon(PortNum port);  // nothing of ours is left there
  bool managed(PortNum port) const { return managed_.contains(port); }
  std::set<PortNum> managed() const { return managed_; }
  bool any_managed() const { return !managed_.empty(); }
  void make(CounterSet set);   // a new one; if another has its id, that one is gone
  void credit_to(SetKey key, const TenantKey& who);
  void join(SetKey key, Qpn qpn);
  void leave(SetKey key, Qpn qpn);

  // --- what the kernel said
  struct Row {
    CounterSetId id;
    std::vector<Qpn> members;
    CounterValues counters;
    bool automatic = false;  // made by the kernel in an automatic mode: never ours
  };
  // All sets of a port, read between `from` and `to`, after the releases that happened before `from` were told. Not `complete`: what is
  // not among them may still be there.
  void read(PortNum port, std::span<const Row> rows, bool complete, BootTime to, TenantLedger& ledger, const WhoseQp& whose);
  void released(const CounterReleased& event, TenantLedger& ledger);
  void releases_lost();     // those that are waited for may never come
  void tick(BootTime now);  // gives up waiting in time

  // None waits for its last word, and the port was read: what is credited is all there was then.
  bool settled(PortNum port) const;
  bool known(PortNum port) const;  // it was read completely, by this run

  // --- reading
  const CounterSet* find(SetKey key) const;
  std::vector<const CounterSet*> sets(PortNum port) const;
  std::size_t size() const { return sets_.size(); }
  std::optional<Part> part(std::string_view counter) const { return counts_ ? counts_(counter) : std::nullopt; }
  // Whether sets of the port, as last listed, count a part of this.
  bool counts(PortNum port, const PortCounter& counter) const;

  std::uint64_t take_missed() { return std::exchange(missed_, 0); }  // sets whose last word was not heard, since this was asked last
  bool take_changed();  // there is something to save
  SetImage image() const;

 private:
  struct Gone {
    CounterSet set;
    BootTime since;
  };
  struct Port {
    bool read = false;               // completely, by this run
    std::vector<std::string> names;  // of its sets, as last listed
  };
  void adopt(SetKey key, const Row& row, BootTime to, TenantLedger& ledger, const WhoseQp& whose);
  void take(CounterSet& set, const CounterValues& values, BootTime now, TenantLedger& ledger) const;
  void retire(CounterSet set, BootTime since);
  bool plausible(const CounterSet& set, const CounterValues& values) const;
  static void remember_members(CounterSet& set, const std::vector<Qpn>& members);

  Counts counts_;
  std::map<SetKey, CounterSet> sets_;
  std::list<Gone> gone_;  // the oldest first
  std::map<PortNum, Port> ports_;
  std::set<PortNum> managed_;
  std::set<PortNum> inherited_;  // managed by an earlier run, and not read by this one yet: what is not foreign there is ours
  std::set<SetKey> foreign_;
  std::uint64_t missed_ = 0;
  bool changed_ = false;
};

// Feeds the book what the kernel has told of sets of the device that are gone.
void hear_releases(QpDirectory& directory, const std::string& device, SetBook& book, TenantLedger& ledger, BootTime now);

}  // namespace qpscope
