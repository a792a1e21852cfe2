// SPDX-License-Identifier: Apache-2.0
#include "exporters/cidr.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <charconv>
#include <cstring>
#include <string>

namespace qpscope {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

Result<Cidr> Cidr::parse(std::string_view text) {
  const auto bad = [&] { return fail(ErrorCode::invalid, "\"" + std::string(text) + "\" is no network; write 10.0.0.0/8, 192.0.2.7 or ::1/128"); };
  const auto slash = text.find('/');
  const std::string address(text.substr(0, slash));
  if (address.contains('\0')) return bad();
  Cidr out;
  unsigned most = 128, offset = 0;
  if (inet_pton(AF_INET, address.c_str(), out.network_.data() + kMapped.size()) == 1) {
    std::memcpy(out.network_.data(), kMapped.data(), kMapped.size());
    most = 32;
    offset = 96;
  } else if (inet_pton(AF_INET6, address.c_str(), out.network_.data()) != 1) {
    return bad();
  }
  unsigned bits = most;
  if (slash != std::string_view::npos) {
    const std::string_view digits = text.substr(slash + 1);
    const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    if (ec != std::errc{} || end != digits.data() + digits.size() || bits > most) return bad();
  }
  out.bits_ = bits + offset;
  return out;
}

bool Cidr::contains(const sockaddr* peer) const {
  std::array<std::uint8_t, 16> address{};
  if (peer->sa_family == AF_INET6) {
    std::memcpy(address.data(), &reinterpret_cast<const sockaddr_in6*>(peer)->sin6_addr, address.size());
  } else if (peer->sa_family == AF_INET) {
    std::memcpy(address.data(), kMapped.data(), kMapped.size());
    std::memcpy(address.data() + kMapped.size(), &reinterpret_cast<const sockaddr_in*>(peer)->sin_addr, 4);
  } else {
    return false;
  }
  const unsigned whole = bits_ / 8, rest = bits_ % 8;
  if (std::memcmp(address.data(), network_.data(), whole) != 0) return false;
  return rest == 0 || ((address[whole] ^ network_[whole]) >> (8 - rest)) == 0;
}

}  // namespace qpscope
