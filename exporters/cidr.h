// SPDX-License-Identifier: Apache-2.0
// "10.0.0.0/8", "::1/128", "192.0.2.7": which peers may see what is not for everybody.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "core/error.h"

namespace qpscope {

class Cidr {
 public:
  static Result<Cidr> parse(std::string_view text);
  // IPv4 peers of a dual-stack socket (::ffff:a.b.c.d) match IPv4 ranges.
  bool contains(const sockaddr* peer) const;

 private:
  std::array<std::uint8_t, 16> network_{};  // IPv4 as ::ffff:a.b.c.d
  unsigned bits_ = 0;                       // of the 128
};

}  // namespace qpscope
