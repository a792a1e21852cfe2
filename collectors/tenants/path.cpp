// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenants/path.h"

#include <algorithm>

namespace qpscope {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_alphanumeric(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

CgroupPath::CgroupPath(std::string_view path) {
  constexpr std::string_view kDeleted = " (deleted)";  // kernel/cgroup/cgroup.c proc_cgroup_show
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  while (!path.empty()) {
    const auto slash = path.find('/');
    const std::string_view element = path.substr(0, slash);
    if (element == "..") {
      relative_ = true;
    } else if (!element.empty()) {
      elements_.push_back(element);
    }
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
}

std::size_t CgroupPath::slices() const {
  return static_cast<std::size_t>(std::ranges::find_if_not(elements_, is_slice) - elements_.begin());
}

bool is_unit(std::string_view name) { return name.ends_with(".service") || name.ends_with(".scope"); }
bool is_slice(std::string_view name) { return name.ends_with(".slice"); }

bool is_container_id(std::string_view text) {
  return text.size() >= 6 && text.size() <= 128 && std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '-'; });
}

std::string_view short_id(std::string_view id) { return id.size() == 64 && std::ranges::all_of(id, is_lower_hex) ? id.substr(0, 12) : id; }

std::optional<std::string_view> id_between(std::string_view element, std::string_view before, std::string_view after) {
  if (element.size() < before.size() + after.size() || !element.starts_with(before) || !element.ends_with(after)) return std::nullopt;
  const std::string_view id = element.substr(before.size(), element.size() - before.size() - after.size());
  return is_container_id(id) ? std::optional(id) : std::nullopt;
}

bool is_number(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_digit); }

}  // namespace qpscope
