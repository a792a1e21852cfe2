// SPDX-License-Identifier: Apache-2.0
// Priority flow control of a netdev as its driver tells the kernel's DCB interface (rtnetlink RTM_GETDCB, DCB_CMD_IEEE_GET: net/dcb/dcbnl.c,
// include/uapi/linux/dcbnl.h struct ieee_pfc). No privilege is needed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/error.h"

namespace qpscope {

inline constexpr std::size_t kPriorities = 8;

struct PfcState {
  std::uint8_t enabled = 0;  // by priority; on mlx5 for sending (en_dcbnl.c mlx5e_dcbnl_ieee_getpfc)
  // Frames. A driver that does not count them leaves them 0.
  std::array<std::uint64_t, kPriorities> sent{}, received{};
  friend bool operator==(const PfcState&, const PfcState&) = default;
};

// One thread, which also destroys it. Answered under rtnl: ask through the gate (rtnl_gate.h); it can hang there. On mlx5 one firmware
// command. ErrorCode::unsupported: the driver has no DCB, or no PFC.
class Dcb {
 public:
  virtual ~Dcb() = default;
  virtual Result<PfcState> pfc(const std::string& netdev) = 0;
};

// The machine's. Opens its socket with the first question.
std::unique_ptr<Dcb> kernel_dcb();

// What follows the nlmsghdr of an answer; 4-byte aligned.
Result<PfcState> parse_dcb_pfc(std::span<const std::byte> payload);

}  // namespace qpscope
