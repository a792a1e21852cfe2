// SPDX-License-Identifier: Apache-2.0
// uid → name, from files that only root writes. No NSS: it may ask the network.
#pragma once

#include <cstdint>
#include <string>

#include "collectors/host/sysroot.h"
#include "collectors/tenants/ttl_cache.h"

namespace qpscope {

// Of one thread; reads files. The root must outlive it.
class UserNames {
 public:
  UserNames(const Sysroot& root, ClockFn now) : root_(root), cache_(std::move(now), {}) {}

  // The name by /etc/passwd; else by /run/systemd/users (logind: also users that only a directory server knows, while they have a
  // session); else that of the user to whom /etc/subuid gives the number (a container's inner user is its maker).
  // None of them: the number itself, as ps and ls print it.
  std::string name(std::uint32_t uid);

 private:
  std::optional<std::string> read(std::uint32_t uid) const;

  const Sysroot& root_;
  TtlCache<std::uint32_t, std::string> cache_;
};

}  // namespace qpscope
