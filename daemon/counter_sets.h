// SPDX-License-Identifier: Apache-2.0
// Which queue pair counts in which counter set (counters.qp_mode: tenant): one set for each tenant and workload on each port. This is
// what qpscope changes on a host, and it puts it back: at its end or, after a crash, by the next start, which finds our sets in the
// state file.
//
// A port is ours only if its mode was NONE when we came, and only after the state file says so: whatever is found on it after a crash was
// made by us. What others set up (an automatic mode, sets of theirs) is left alone and reported.
//
//   bind       when a queue pair has a port and its tenant is known: before RTS nothing of it is lost
//   move       when its tenant turns out to be another
//   other      tenants that find no set of their own share one: other/other
//   focus      one queue pair in a set of its own for a while, credited to its tenant all the same
//   give back  at the end, and while firmware commands are slow
//
// One for each device, on its thread; focus_on() on any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"
#include "core/metric.h"
#include "set_binder.h"

namespace qpscope {

MetricList counter_set_metrics();

class CounterSets {
 public:
  CounterSets(const Host& host, std::string device, CountersConfig config, ClockFn now);

  bool binds() const { return config_.qp_mode == "tenant"; }
  // One round, as much as the budget has room for. `saved`: the ports that the state file on disk calls ours. True: there is more to do.
  bool act(CounterLedger& ledger, CommandBudget& budget, const std::set<PortNum>& saved);
  // Gives back what is ours, as far as the budget has room. True: nothing is left.
  bool give_back(CounterLedger& ledger, CommandBudget& budget);
  // What firmware commands of the device took on average, as its collectors measure it.
  void commands_took(double seconds_each);

  // The thread ends: what it opened is closed.
  void close() { binder_.close(); }

  // A set of its own for this queue pair, for so long. The error says why not; it may turn out unfit later. Any thread.
  Result<> focus_on(Qpn qpn, double seconds);

  // The counters among them count from the daemon's start.
  SampleList samples() const;

 private:
  enum class Status : std::uint8_t { waiting, counting, automatic, others, unsupported, refused, slow };
  struct Port {
    Status status = Status::waiting, said = Status::waiting;  // said: in the log
    BootTime check_due;            // of its mode
    std::size_t limit = SIZE_MAX;  // of sets, as the driver refused another
    BootTime limit_until, demote_due;
    std::optional<TenantKey> demoted;  // until then its set is for others
    double retry_seconds = 0;  // doubles while nothing can be bound
    std::uint64_t rebinds = 0;
  };
  struct Activity {
    std::uint64_t sum = 0, errors = 0;  // as last looked at
    std::uint64_t new_errors = 0;       // since the look before
    BootTime made;                      // the set: its id may be another's by now
    BootTime moved;
  };
  struct Focused {
    Qpn qpn;
    PortNum port;
    BootTime until;
  };
  using Books = SetBinder::Books;
  static std::string_view name_of(Status status);

  void check(PortNum number, Port& port, Books& books, const std::set<PortNum>& saved);
  void become(PortNum number, Port& port, Status status, const std::string& why = {});
  void bound(PortNum number, Port& port);
  void refused(PortNum number, Port& port, const Error& error);

  enum class Again : bool { no, yes };
  void place(const CountableQp& qp, Books& books, Again again = Again::yes);
  void place_new(const CountableQp& qp, const TenantKey& who, Books& books, Again again);
  bool share_quietest(PortNum number, bool kernel, Books& books);
  bool leave(const CountableQp& qp, SetKey set, Books& books);

  bool focus(const CountableQp& qp, double seconds, Books& books);
  void serve_focus(Books& books);
  bool focus_suspect(Books& books);
  void tidy(Books& books);
  void follow_activity(const SetBook& book);
  void demote(PortNum number, Port& port, Books& books);

  std::vector<const CounterSet*> own(const SetBook& book, PortNum port) const;
  std::optional<SetKey> set_for(const SetBook& book, PortNum port, const TenantKey& who, bool kernel) const;
  std::size_t limit(const Port& port) const;

  const Host& host_;
  const std::string device_;
  const CountersConfig config_;
  const ClockFn now_;
  SetBinder binder_;
  std::optional<std::string> driver_;
  std::map<PortNum, Port> ports_;
  std::map<SetKey, Activity> activity_;
  std::map<QpKey, Focused> focused_;
  std::map<QpKey, BootTime> was_focused_;  // when last
  std::deque<double> latencies_;           // of the last reads, seconds a command
  BootTime tidy_due_, retell_due_, slow_until_;

  std::mutex mutex_;  // guards what follows
  std::vector<std::pair<Qpn, double>> wanted_focus_;
};

}  // namespace qpscope
