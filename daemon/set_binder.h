// SPDX-License-Identifier: Apache-2.0
// The calls that bind queue pairs to counter sets and unbind them, each with what it means for the device's book: nothing else in
// qpscope changes the kernel's state. Not thread-safe: the device's own thread binds.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectors/host/host.h"
#include "core/clock.h"
#include "core/command_budget.h"
#include "core/counter_ledger.h"

namespace qpscope {

class SetBinder {
 public:
  // What the calls are booked on.
  struct Books {
    CounterLedger& ledger;
    CommandBudget& budget;
  };

  SetBinder(const Host& host, std::string device, ClockFn now);

  void close() { netlink_.reset(); }  // for good
  Result<NlCounterMode> mode(PortNum port);
  // Reads the port's sets. Ends with what the kernel told of those that are gone.
  Result<> reread(Books& books, PortNum port);
  // A new set with this queue pair as its first member, credited to `who`.
  Result<SetKey> bind_new(Books& books, const CountableQp& qp, const TenantKey& who, bool focus);
  Result<> bind(Books& books, const CountableQp& qp, SetKey set);
  // An error also where there was nothing to unbind, which not_bound() tells.
  static bool not_bound(const Error& error);
  Result<> unbind(Books& books, Qpn qpn, SetKey set);

  // A number may have gone to another queue pair while it was bound: what is not the one that was meant is unbound again.
  void verify(Books& books);
  // Unbinds from our sets what we did not put there: it would count as another tenant's. Some seconds after the last time, so that the
  // members have been read anew.
  void evict_strangers(Books& books);
  void hear(Books& books);

  // The set that we bound this queue pair to, if that is still there; of one older than this run, the set of ours that it is in.
  std::optional<SetKey> set_of(const SetBook& book, const CountableQp& qp);
  void forget_dead();  // queue pairs that are gone

  const std::map<std::pair<std::string, std::string>, std::uint64_t>& calls() const {
    return calls_;
  }                                                       // by name and errno's name, "" for success
  std::uint64_t strangers() const { return strangers_; }  // queue pairs unbound from sets that were not theirs

 private:
  struct Bound {
    SetKey set;
    Qpn qpn;
  };
  template <class Call>
  auto call(Books& books, const char* name, std::uint64_t commands, Call make) -> decltype(make());

  const Host& host_;
  const std::string device_;
  const ClockFn now_;
  std::unique_ptr<DeviceNetlink> netlink_;  // opened by the thread that uses it
  std::map<QpKey, Bound> bound_;
  std::vector<QpKey> unverified_;
  std::map<QpKey, Bound> intruding_;  // at the last evict_strangers()
  std::map<std::pair<std::string, std::string>, std::uint64_t> calls_;
  std::uint64_t strangers_ = 0;
};

}  // namespace qpscope
