// SPDX-License-Identifier: Apache-2.0
// A network of api.allow, by the first line, and whether it has the peer that the other bytes are: bit by bit as a second opinion.
#include "exporters/cidr.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <optional>

#include "fuzz/fuzz.h"

using namespace qpscope;
using fuzz::check;

namespace {

using Address = std::array<std::uint8_t, 16>;

bool bit(const Address& address, unsigned n) { return (address[n / 8] >> (7 - n % 8) & 1) != 0; }

std::optional<Address> address_of(const std::string& text) {
  Address out{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (inet_pton(AF_INET, text.c_str(), out.data() + 12) == 1) return out;
  if (inet_pton(AF_INET6, text.c_str(), out.data()) == 1) return out;
  return std::nullopt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = fuzz::text_of(data, size);
  const std::string_view text = fuzz::next_line(rest);
  const auto range = Cidr::parse(text);
  if (!range) {
    check(range.error().code == ErrorCode::invalid, "what is no network is ErrorCode::invalid");
    return 0;
  }
  const std::string base(text.substr(0, text.find('/')));
  const auto network = address_of(base);
  check(network.has_value(), "a network has an address");
  const bool v4 = base.find(':') == std::string::npos;
  const unsigned bits = (text.contains('/') ? static_cast<unsigned>(std::stoul(std::string(text.substr(text.find('/') + 1)))) : v4 ? 32U : 128U) + (v4 ? 96U : 0U);
  check(bits <= 128, "a network has no more bits than its address");

  Address peer = *network;
  for (std::size_t i = 0; i < peer.size() && i < rest.size(); ++i) peer[i] = static_cast<std::uint8_t>(peer[i] ^ rest[i]);
  bool inside = true;
  for (unsigned n = 0; n < bits; ++n) inside &= bit(peer, n) == bit(*network, n);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  std::memcpy(&v6.sin6_addr, peer.data(), peer.size());
  check(range->contains(reinterpret_cast<const sockaddr*>(&v6)) == inside, "a peer is inside where the first bits are equal");
  if (!v4) return 0;
  sockaddr_in plain{};
  plain.sin_family = AF_INET;
  std::memcpy(&plain.sin_addr, peer.data() + 12, 4);
  Address mapped = *network;
  std::memcpy(mapped.data() + 12, peer.data() + 12, 4);
  inside = true;
  for (unsigned n = 0; n < bits; ++n) inside &= bit(mapped, n) == bit(*network, n);
  check(range->contains(reinterpret_cast<const sockaddr*>(&plain)) == inside, "an IPv4 peer likewise");
  return 0;
}
