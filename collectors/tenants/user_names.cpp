// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenants/user_names.h"

#include <array>
#include <charconv>
#include <string_view>

namespace qpscope {
namespace {

constexpr std::size_t kMostBytes = 4 * 1024 * 1024;  // some 50,000 users

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return text.empty() || error != std::errc{} || end != text.data() + text.size() ? std::nullopt : std::optional(value);
}

// The first three colon-separated fields of each line, until `take` returns a name.
template <class Take>
std::optional<std::string> search(const Sysroot& root, const std::string& path, Take take) {
  const auto text = root.read_text(path, kMostBytes);
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    std::array<std::string_view, 3> fields;
    for (std::string_view& field : fields) {
      const auto colon = line.find(':');
      field = line.substr(0, colon);
      line.remove_prefix(colon == std::string_view::npos ? line.size() : colon + 1);
    }
    if (!fields[0].empty() && fields[0][0] != '#' && take(fields)) return std::string(fields[0]);
  }
  return std::nullopt;
}

// logind's "NAME=alice" (systemd src/login/logind-user.c user_save_internal).
std::optional<std::string> logind_name(const Sysroot& root, std::uint32_t uid) {
  const auto text = root.read_text("/run/systemd/users/" + std::to_string(uid));
  if (!text) return std::nullopt;
  constexpr std::string_view kKey = "\nNAME=";
  const std::string lines = "\n" + *text;
  const auto at = lines.find(kKey);
  if (at == std::string::npos) return std::nullopt;
  const auto begin = at + kKey.size(), end = lines.find('\n', begin);
  std::string name = lines.substr(begin, end == std::string::npos ? end : end - begin);
  return name.empty() ? std::nullopt : std::optional(std::move(name));
}

}  // namespace

std::optional<std::string> UserNames::read(std::uint32_t uid) const {
  if (auto name = search(root_, "/etc/passwd", [&](const auto& fields) { return number(fields[2]) == uid; })) return name;
  if (auto name = logind_name(root_, uid)) return name;
  auto owner = search(root_, "/etc/subuid", [&](const auto& fields) {  // name:first:count
    const auto first = number(fields[1]), count = number(fields[2]);
    return first && count && uid >= *first && uid - *first < *count;
  });
  // subuid(5) allows a number for the name.
  if (const auto id = owner ? number(*owner) : std::nullopt) {
    return search(root_, "/etc/passwd", [&](const auto& fields) { return number(fields[2]) == *id; }).value_or(*owner);
  }
  return owner;
}

std::string UserNames::name(std::uint32_t uid) {
  return cache_.get(uid, [this](std::uint32_t id) { return read(id); }).value_or(std::to_string(uid));
}

}  // namespace qpscope
