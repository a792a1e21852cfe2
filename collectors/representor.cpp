// SPDX-License-Identifier: Apache-2.0
#include "collectors/representor.h"

#include <algorithm>
#include <cerrno>

#include "collectors/fact.h"
#include "collectors/host/rtnl_gate.h"
#include "core/text.h"

namespace qpscope {
namespace {

constexpr std::size_t kMostDigits = 5;

// Takes `prefix` and the number behind it off the text. "" where it does not begin so.
std::string take_number(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return {};
  const std::string_view rest = text.substr(prefix.size());
  const auto digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (digits == 0 || digits > kMostDigits) return {};
  text = rest.substr(digits);
  return std::string(rest.substr(0, digits));
}

}  // namespace

std::optional<Representor> parse_representor(std::string_view name) {
  take_number(name, "c");
  Representor out{.pf = take_number(name, "pf"), .vf = take_number(name, "vf")};
  if (out.vf.empty()) take_number(name, "sf");
  if (out.pf.empty() || !name.empty()) return std::nullopt;
  return out;
}

Result<std::optional<Representor>> representor_of(const Host& host, const std::string& netdev) {
  const auto pass = rtnl_gate().enter(netdev);
  if (!pass) return std::unexpected(pass.error());
  const auto name = host.root.read_text("/sys/class/net/" + netdev + "/phys_port_name");
  if (name) return parse_representor(trim(*name));
  if (absent(name.error()) || name.error().sys_errno == EOPNOTSUPP) return std::optional<Representor>();
  return std::unexpected(name.error());
}

}  // namespace qpscope
