// SPDX-License-Identifier: Apache-2.0
// The text of one sysfs file that holds a number or a GID, against a reader of its own.
#include <algorithm>
#include <cctype>
#include <optional>

#include "collectors/host/sysroot.h"
#include "core/rdma.h"
#include "core/text.h"
#include "fuzz/fuzz.h"
#include "support/utf8.h"

using namespace qpscope;
using fuzz::check;

namespace {

std::optional<std::uint64_t> number_in(std::string_view text) {
  const bool hexadecimal = text.size() >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (hexadecimal) text.remove_prefix(2);
  if (text.empty()) return std::nullopt;
  unsigned __int128 value = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (hexadecimal ? !std::isxdigit(byte) : !std::isdigit(byte)) return std::nullopt;
    const int digit = std::isdigit(byte) ? byte - '0' : std::tolower(byte) - 'a' + 10;
    value = value * (hexadecimal ? 16U : 10U) + static_cast<unsigned>(digit);
    if (value >> 64 != 0) return std::nullopt;
  }
  return static_cast<std::uint64_t>(value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const std::string_view trimmed = trim(text);

  const auto value = parse_u64(text, "file");
  const auto expected = number_in(trimmed);
  check(value.has_value() == expected.has_value(), "a number is one for both");
  if (value) {
    check(*value == *expected, "the same number");
  } else {
    check(value.error().code == ErrorCode::parse, "what is no number is a parse error");
    check(test::clean_line(value.error().what) && value.error().what.size() < 300, "an error is one short line");
  }

  if (const auto gid = parse_gid(trimmed)) {
    std::string lower(trimmed);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    check(to_string(*gid) == lower, "a GID prints as it was read");
  }
  return 0;
}
