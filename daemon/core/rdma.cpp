// SPDX-License-Identifier: Apache-2.0
#include "core/rdma.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace qpscope {

std::string_view to_string(QpState state) {
  constexpr std::array<std::string_view, 7> names{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
  const auto i = static_cast<std::size_t>(state);
  return i < names.size() ? names[i] : "UNKNOWN";
}

std::optional<QpState> qp_state_from_number(unsigned number) {
  if (number > static_cast<unsigned>(QpState::err)) return std::nullopt;
  return static_cast<QpState>(number);
}

std::string to_string(QpType type) {
  constexpr std::array<std::string_view, 11> names{"SMI", "GSI",        "RC", "UC",      "UD",     "RAW_IPV6", "RAW_ETHERTYPE",
                                                   "UNKNOWN", "RAW_PACKET", "XRC_INI", "XRC_TGT"};
  const auto number = static_cast<std::uint32_t>(type);
  if (number < names.size()) return std::string(names[number]);
  return number >= static_cast<std::uint32_t>(QpType::driver) ? "DRIVER" : "UNKNOWN";
}

std::optional<std::uint32_t> mtu_bytes(unsigned ib_mtu) {
  if (ib_mtu < 1 || ib_mtu > 5) return std::nullopt;
  return 128U << ib_mtu;
}

std::string_view port_state_name(unsigned number) {
  constexpr std::array<std::string_view, 6> names{"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  return number < names.size() ? names[number] : std::string_view();
}

std::string_view port_physical_state_name(unsigned number) {
  constexpr std::array<std::string_view, 8> names{"", "Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "Phy Test"};
  return number < names.size() ? names[number] : std::string_view();
}

std::string to_string(const Gid& gid) {
  std::string out;
  out.reserve(39);
  for (std::size_t i = 0; i < gid.bytes.size(); i += 2) {
    std::array<char, 8> group{};
    std::snprintf(group.data(), group.size(), "%s%02x%02x", i ? ":" : "", gid.bytes[i], gid.bytes[i + 1]);
    out += group.data();
  }
  return out;
}

std::optional<Gid> parse_gid(std::string_view text) {
  Gid gid;
  if (text.size() != 39) return std::nullopt;
  for (std::size_t group = 0; group < 8; ++group) {
    const char* at = text.data() + group * 5;
    if (group && at[-1] != ':') return std::nullopt;
    unsigned value = 0;
    const auto [end, ec] = std::from_chars(at, at + 4, value, 16);
    if (ec != std::errc{} || end != at + 4) return std::nullopt;
    gid.bytes[group * 2] = static_cast<std::uint8_t>(value >> 8);
    gid.bytes[group * 2 + 1] = static_cast<std::uint8_t>(value);
  }
  return gid;
}

}  // namespace qpscope
