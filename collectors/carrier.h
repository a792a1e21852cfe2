// SPDX-License-Identifier: Apache-2.0
// How often the netdev of a RoCE or iWARP port lost its carrier, by the kernel's own count (net/core/net-sysfs.c
// carrier_down_count_show; counted in net/sched/sch_generic.c netif_carrier_off). 32 bits; a read that asks no hardware.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collectors/counter_folder.h"
#include "collectors/host/host.h"
#include "core/collector.h"

namespace qpscope {

class Carrier {
 public:
  Carrier(const Host& host, std::string device, std::string port) : host_(host), device_(std::move(device)), port_(std::move(port)) {}

  // Our total of it. nullopt: there is no netdev, it is not to be seen from here, or the read failed, which `out` knows.
  std::optional<double> count(Reading& out);
  // The netdev that count() spoke of.
  const std::string& netdev() const { return netdev_; }

 private:
  void look();
  bool is_ours(const std::string& netdev) const;

  const Host& host_;
  const std::string device_, port_;
  std::string netdev_;  // "" while there is none
  std::optional<PolledFile> file_;
  BootTime look_at_;    // netdevs come, go and are renamed
};

}  // namespace qpscope
