// SPDX-License-Identifier: Apache-2.0
// Which function of a card a netdev in switchdev mode stands for, by its phys_port_name (kernel net/core/devlink.c
// __devlink_port_phys_port_name_get): p0 is the uplink, pf0vf2 the representor of VF 2 of PF 0, pf0sf88 of a scalable function, c1 before
// them another host's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "collectors/host/host.h"

namespace qpscope {

struct Representor {
  std::string pf;  // digits
  std::string vf;  // digits; "" for a scalable function, or a PF of another host
  friend bool operator==(const Representor&, const Representor&) = default;
};

// nullopt: the name is of no representor. Any bytes may come.
std::optional<Representor> parse_representor(std::string_view phys_port_name);
// nullopt also where it has no such name (EOPNOTSUPP), or does not exist. The kernel reads it under the lock of all netdevs: this goes through the
// gate (host/rtnl_gate.h), and asks no firmware. EBUSY: others are inside for too long.
Result<std::optional<Representor>> representor_of(const Host& host, const std::string& netdev);

}  // namespace qpscope
