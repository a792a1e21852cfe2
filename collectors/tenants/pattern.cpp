// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenants/pattern.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "core/text.h"

namespace qpscope {
namespace {

constexpr std::int64_t kMostMemory = 1 << 20;  // of the automaton; beyond it RE2 refuses the pattern, or matches more slowly
constexpr std::size_t kMostPattern = 1024;
constexpr std::size_t kMostGroups = 9;

}  // namespace

Result<Pattern> Pattern::compile(const std::string& text) {
  if (text.size() > kMostPattern)
    return fail(ErrorCode::invalid, "a regular expression longer than " + std::to_string(kMostPattern) + " bytes");
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_log_errors(false);
  options.set_max_mem(kMostMemory);
  options.set_dot_nl(true);
  auto compiled = std::make_shared<const re2::RE2>(text, options);
  if (!compiled->ok()) return fail(ErrorCode::invalid, "not a regular expression: " + safe_message(compiled->error()));
  return Pattern(std::move(compiled));
}

std::optional<std::vector<std::string>> Pattern::search(std::string_view text) const {
  std::array<re2::StringPiece, kMostGroups + 1> found;
  const int groups = 1 + std::min<int>(kMostGroups, compiled_->NumberOfCapturingGroups());
  const re2::StringPiece subject(text.data(), text.size());
  if (!compiled_->Match(subject, 0, subject.size(), re2::RE2::UNANCHORED, found.data(), groups)) return std::nullopt;
  std::vector<std::string> out;
  for (int i = 0; i < groups; ++i) out.emplace_back(found.at(static_cast<std::size_t>(i)));
  return out;
}

std::optional<std::string> Pattern::first_group(std::string_view text) const {
  std::string group;
  if (compiled_->NumberOfCapturingGroups() < 1 || !re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *compiled_, &group))
    return std::nullopt;
  return group;
}

}  // namespace qpscope
