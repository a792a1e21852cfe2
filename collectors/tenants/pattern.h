// SPDX-License-Identifier: Apache-2.0
// A site's regular expression. RE2, since it meets strings that tenants choose: its time grows with their length only, and its
// memory is bounded. The only user of RE2.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace re2 {
class RE2;
}

namespace qpscope {

// Immutable; copies share it; any thread. Bytes, not characters: what tenants write need not be UTF-8.
class Pattern {
 public:
  // RE2's syntax; "." matches a newline too. ErrorCode::invalid with RE2's words.
  static Result<Pattern> compile(const std::string& text);

  // Anywhere in `text`; the groups (up to nine, [0] the whole) on a match.
  std::optional<std::vector<std::string>> search(std::string_view text) const;
  // Over the whole `text`: what the first group has. nullopt: no match, or no group.
  std::optional<std::string> first_group(std::string_view text) const;

 private:
  explicit Pattern(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace qpscope
