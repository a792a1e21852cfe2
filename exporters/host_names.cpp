// SPDX-License-Identifier: Apache-2.0
#include "exporters/host_names.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <optional>

namespace qpscope {
namespace {

constexpr std::size_t kMostBytes = 255;  // of a name in the DNS

bool digits(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMostBytes && text.front() != '.' && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c); });
  return out;
}

// "node7." is the same name as "node7".
std::string_view without_dot(std::string_view name) { return name.ends_with('.') ? name.substr(0, name.size() - 1) : name; }

bool is_address(int family, std::string_view text) {
  in6_addr address{};
  return !text.contains('\0') && inet_pton(family, std::string(text).c_str(), &address) == 1;
}

// Takes ":9879" off. nullopt: what is behind the colon is no port.
std::optional<std::string_view> without_port(std::string_view text, std::size_t colon) {
  if (colon == std::string_view::npos) return text;
  const std::string_view port = text.substr(colon + 1);
  if (port.size() > 5 || !digits(port)) return std::nullopt;
  return text.substr(0, colon);
}

}  // namespace

Result<HostNames> HostNames::make(std::span<const std::string> listed, std::string_view own) {
  HostNames out;
  out.names_.insert("localhost");
  for (const std::string& entry : listed) {
    const bool domain = entry.starts_with("*.");
    const std::string_view name = without_dot(std::string_view(entry).substr(domain ? 2 : 0));
    if (!is_name(name)) return fail(ErrorCode::invalid, "\"" + entry + "\" is no host name (api.hosts); write node7, node7.example.org or *.example.org");
    if (domain) {
      out.domains_.push_back("." + lower(name));
    } else {
      out.names_.insert(lower(name));
    }
  }
  own = without_dot(own);
  if (is_name(own)) {
    out.names_.insert(lower(own));
    out.names_.insert(lower(own.substr(0, own.find('.'))));
  }
  return out;
}

bool HostNames::contains(std::string_view header) const {
  if (header.starts_with('[')) {
    const auto end = header.find(']');
    if (end == std::string_view::npos || !is_address(AF_INET6, header.substr(1, end - 1))) return false;
    const std::string_view rest = header.substr(end + 1);
    return rest.empty() || (rest.front() == ':' && without_port(rest, 0));
  }
  const auto host = without_port(header, header.find(':'));
  if (!host) return false;
  if (is_address(AF_INET, *host)) return true;
  const std::string name = lower(without_dot(*host));
  return is_name(name) && (names_.contains(name) || std::ranges::any_of(domains_, [&](const std::string& domain) { return name.ends_with(domain); }));
}

}  // namespace qpscope
