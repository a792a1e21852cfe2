// SPDX-License-Identifier: Apache-2.0
// Statistics and PFC of netdevs that answer what the test says and count what they are asked.
#pragma once

#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectors/host/dcb.h"
#include "collectors/host/ethtool.h"

namespace qpscope::test {

using Statistics = std::vector<std::pair<std::string, std::uint64_t>>;

inline std::string padded(std::string_view name) {
  std::string out(name.substr(0, kStatisticName));
  return out.append(kStatisticName - out.size(), '\0');
}
inline NetdevStatistics statistics_of(const Statistics& rows) {
  NetdevStatistics out;
  for (const auto& [name, value] : rows) {
    out.names += padded(name);
    out.values.push_back(value);
  }
  return out;
}

struct FakeEthtool {
  std::map<std::string, Statistics> statistics;  // by netdev
  std::map<std::string, std::string> drivers;    // the same; "mlx5_core" of what is not here
  std::map<std::string, PfcState> pfc;           // the same; of what is not here there is no DCB
  std::map<std::string, Error> failing;          // statistics, by netdev
  std::map<std::string, int> asked, asked_pfc;   // by netdev
  std::function<void()> meanwhile = [] {};       // while statistics are read

  // For Host::ethtool and Host::dcb; this must outlive them.
  std::unique_ptr<Ethtool> ethtool() { return std::make_unique<Line>(*this); }
  std::unique_ptr<Dcb> dcb() { return std::make_unique<DcbLine>(*this); }

 private:
  class Line : public Ethtool {
   public:
    explicit Line(FakeEthtool& fake) : fake_(fake) {}
    Result<std::string> driver(const std::string& netdev) override {
      const auto found = fake_.drivers.find(netdev);
      return found == fake_.drivers.end() ? "mlx5_core" : found->second;
    }
    Result<NetdevStatistics> statistics(const std::string& netdev) override {
      ++fake_.asked[netdev];
      fake_.meanwhile();
      if (const auto found = fake_.failing.find(netdev); found != fake_.failing.end()) return std::unexpected(found->second);
      const auto found = fake_.statistics.find(netdev);
      if (found == fake_.statistics.end()) return fail(ErrorCode::unsupported, netdev + " has no statistics", EOPNOTSUPP);
      return statistics_of(found->second);
    }

   private:
    FakeEthtool& fake_;
  };
  class DcbLine : public Dcb {
   public:
    explicit DcbLine(FakeEthtool& fake) : fake_(fake) {}
    Result<PfcState> pfc(const std::string& netdev) override {
      ++fake_.asked_pfc[netdev];
      const auto found = fake_.pfc.find(netdev);
      if (found == fake_.pfc.end()) return fail(ErrorCode::unsupported, netdev + " has no DCB", EOPNOTSUPP);
      return found->second;
    }

   private:
    FakeEthtool& fake_;
  };
};

}  // namespace qpscope::test
