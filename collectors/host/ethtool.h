// SPDX-License-Identifier: Apache-2.0
// The statistics of a netdev's driver: what `ethtool -S` shows. No privilege is needed.
//
// The set changes while the system runs: mlx5 lists the pause counters of a priority while PFC is on for it (en_stats.c
// mlx5e_grp_per_prio_pfc_fill_strings), so that PFC moved from one priority to another changes names and not their count. Names and values
// are two questions, between which the kernel holds no lock: the names are asked for before and after the values, and have to agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/host/sysroot.h"
#include "core/error.h"

namespace qpscope {

inline constexpr std::size_t kStatisticName = 32;      // bytes; ETH_GSTRING_LEN
inline constexpr std::size_t kMostStatistics = 16'384;  // of a netdev; one with 128 channels has about 9,000

struct NetdevStatistics {
  std::string names;                  // kStatisticName bytes each, as the driver wrote them: a NUL may be missing, and any byte may be there
  std::vector<std::uint64_t> values;  // as many

  std::string_view name(std::size_t index) const;  // without its NULs
};

// One thread, which also destroys it. Every question but those to text_ethtool() is answered under the kernel's lock of all netdevs (rtnl):
// ask through the gate (rtnl_gate.h). It can hang there for good.
//
// Errors: ErrorCode::unsupported the netdev has no statistics; ErrorCode::not_found no such netdev in our network namespace; ErrorCode::limit
// more than kMostStatistics; EAGAIN the set changed twice while it was read; else the driver's errno.
class Ethtool {
 public:
  virtual ~Ethtool() = default;
  // As the driver calls itself: "mlx5_core", "mlx5_core[ib_ipoib]", "mlx5e_rep".
  virtual Result<std::string> driver(const std::string& netdev) = 0;
  virtual Result<NetdevStatistics> statistics(const std::string& netdev) = 0;
};

// The machine's, by ioctl SIOCETHTOOL: the only way to these names. Opens its socket with the first question.
std::unique_ptr<Ethtool> kernel_ethtool();
// DIR/ethtool/NETDEV.txt, which holds what `ethtool -S NETDEV` printed; no such file is ErrorCode::not_found. Knows no driver
// (ErrorCode::unsupported). `root` must outlive it.
std::unique_ptr<Ethtool> text_ethtool(const Sysroot& root);

// The two parts of the above that need no kernel.
//
// The questions of SIOCETHTOOL for one set of statistics, each answered by itself.
class EthtoolCalls {
 public:
  virtual ~EthtoolCalls() = default;
  virtual Result<std::size_t> count(const std::string& netdev) = 0;                               // GSSET_INFO
  virtual Result<std::string> names(const std::string& netdev, std::size_t count) = 0;            // GSTRINGS; more or fewer, or none: it changed
  virtual Result<std::vector<std::uint64_t>> values(const std::string& netdev, std::size_t count) = 0;  // GSTATS; the same
};
Result<NetdevStatistics> consistent_statistics(EthtoolCalls& calls, const std::string& netdev);
// `where` names the text in errors. Names may hold ": ".
Result<NetdevStatistics> parse_ethtool_text(std::string_view text, std::string_view where);

}  // namespace qpscope
