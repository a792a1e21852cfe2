// SPDX-License-Identifier: Apache-2.0
// Which queue pairs to ask about before their turn. Hardware moves a QP to ERR without any call that BPF could see; what shows is that
// completion errors grow, of its port or of its tenant there. Who sees them grow says so here, and the reconciler asks.
//
// Thread-safe. One suspect is one entry, however often it is added. Of a device with more than kMostOfDevice of them everything is
// suspected: that asks more and misses nobody. Beyond kMostDevices a device that is new finds no room, and is counted.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/qp_record.h"

namespace qpscope {

struct Suspect {
  PortNum port;                    // 0: every port of the device
  std::optional<TenantId> tenant;  // empty: everybody's
  bool covers(const QpRecord& qp) const { return (port.value == 0 || port == qp.port) && (!tenant || *tenant == qp.tenant); }
  friend auto operator<=>(const Suspect&, const Suspect&) = default;
};

struct Suspicion {
  Suspect whom;
  BootTime at;  // errors were last seen to have grown; what netlink says afterwards answers it
};

class Suspicions {
 public:
  static constexpr std::size_t kMostOfDevice = 64, kMostDevices = 1024;

  void add(const std::string& device, const Suspect& whom, BootTime at);
  // The device's, in any order; they are forgotten here.
  std::vector<Suspicion> take(const std::string& device);
  std::uint64_t dropped() const;  // suspicions that found no room

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::map<Suspect, BootTime>> devices_;
  std::uint64_t dropped_ = 0;
};

}  // namespace qpscope
