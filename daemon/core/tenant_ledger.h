// SPDX-License-Identifier: Apache-2.0
// Whose the events of a device's counters are: totals by port, tenant and workload, and what nobody is credited with.
//
//   tenants + other + ended + unattributed = port        for each counter, where the port's total was read last
//
// A total only grows, over counter sets, queue pairs, processes and, with its image, over restarts of the daemon. A tenant is named by
// its words and not by its TenantId, which is given to others in time. Pure; not thread-safe: the device's own thread credits.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.h"

namespace qpscope {

// Raw words, as in core/tenant.h.
struct TenantKey {
  std::string tenant, workload;
  friend auto operator<=>(const TenantKey&, const TenantKey&) = default;
};
inline const TenantKey kOtherTenants{"other", "other"};
inline const TenantKey kEndedTenants{"ended", "ended"};

// How it is known that events are a tenant's.
enum class CreditMethod : std::uint8_t {
  set,         // its queue pairs counted in a set of their own
  sole_owner,  // every queue pair of the port was its own
};
constexpr std::string_view to_string(CreditMethod method) { return method == CreditMethod::set ? "set" : "sole_owner"; }

// A counter of a port, raw names as in CounterKeyView.
struct PortCounter {
  std::string source, name;
  friend auto operator<=>(const PortCounter&, const PortCounter&) = default;
};

// What outlives the daemon (state_image.h).
struct TenantImage {
  struct Account {
    std::string port;
    TenantKey who;
    CreditMethod method = CreditMethod::set;
    BootTime used;
    std::map<PortCounter, std::uint64_t> totals;
    friend bool operator==(const Account&, const Account&) = default;
  };
  std::vector<Account> accounts;
  std::map<std::string, std::map<PortCounter, std::uint64_t>> unattributed;  // by port
  friend bool operator==(const TenantImage&, const TenantImage&) = default;
};

class TenantLedger {
 public:
  static constexpr std::size_t kMost = 256;        // accounts of a port and a method
  static constexpr std::size_t kMostCounters = 512;  // of an account, or of a port
  // A newcomer who finds no room gets that of the account that was not used for the longest, if it is so many seconds; what that had goes
  // to ended/ended. If none is, the newcomer is other/other.
  static constexpr double kKeepSeconds = 600;
  // One that was not used for so long has ended: what it had goes to ended/ended, so that pages and state file are not of jobs long gone. If
  // it comes back it starts at 0.
  static constexpr double kEndedSeconds = 3600;

  TenantLedger() = default;
  explicit TenantLedger(const TenantImage& image);

  // 0 events are a statement too: the total is known.
  void credit(const std::string& port, const TenantKey& who, CreditMethod method, const PortCounter& counter, std::uint64_t events, BootTime now);
  // Ends accounts in time. Call it now and then.
  void expire(BootTime now);
  // The port's total as it was read *before* what is credited by now was read: the rest is nobody's. It never falls.
  void balance(const std::string& port, const PortCounter& counter, std::uint64_t port_total);

  // Sole ownership is known for an interval: up to where a port's counter has been decided upon. Not part of the image.
  struct Mark {
    std::uint64_t total = 0;  // the port's, when it was decided last
    BootTime at;
  };
  std::optional<Mark> mark(const std::string& port, const PortCounter& counter) const;
  void mark(const std::string& port, const PortCounter& counter, Mark mark);

  std::uint64_t credited(const std::string& port, const PortCounter& counter) const;  // to all tenants
  std::optional<std::uint64_t> unattributed(const std::string& port, const PortCounter& counter) const;
  using See = std::function<void(const TenantKey& who, CreditMethod method, const PortCounter& counter, std::uint64_t total)>;
  void each(const std::string& port, const See& see) const;
  using SeeRest = std::function<void(const PortCounter& counter, std::uint64_t unattributed)>;
  void each_rest(const std::string& port, const SeeRest& see) const;
  bool has_tenants(const std::string& port) const;

  // Whether a total moved since this was asked last.
  bool take_changed();
  TenantImage image() const;

 private:
  struct AccountKey {
    std::string port;
    CreditMethod method;
    TenantKey who;
    friend auto operator<=>(const AccountKey&, const AccountKey&) = default;
  };
  struct Account {
    BootTime used;
    std::map<PortCounter, std::uint64_t> totals;
  };
  struct Port {
    std::map<PortCounter, std::uint64_t> credited, unattributed;
    std::map<PortCounter, Mark> marks;
    std::map<CreditMethod, std::size_t> accounts;
  };
  Account* open(const AccountKey& key, BootTime now);
  bool fold_oldest(const AccountKey& newcomer, BootTime now);
  void fold(std::map<AccountKey, Account>::iterator account, const TenantKey& into);
  Account& insert(const AccountKey& key);

  std::map<AccountKey, Account> accounts_;
  std::map<std::string, Port> ports_;
  bool changed_ = false;
};

}  // namespace qpscope
