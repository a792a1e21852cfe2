// SPDX-License-Identifier: Apache-2.0
// Hostile names on their way out: always one line of valid UTF-8, bounded, and two names stay two.
#include "core/text.h"

#include "fuzz/fuzz.h"
#include "support/utf8.h"

using namespace qpscope;
using fuzz::check;

namespace {

// Separators of lines and paragraphs, and what reorders a terminal's line.
bool moves_the_line(std::string_view text) {
  for (const char* one : {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067",
                          "\u2068", "\u2069"}) {
    if (text.contains(one)) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all = fuzz::text_of(data, size);
  const std::string_view one = all.substr(0, size / 2), other = all.substr(size / 2);

  check(is_utf8(all) == test::valid_utf8(all), "what is UTF-8 is so for both");

  const std::string safe = safe_text(one);
  check(test::clean_line(safe) && !moves_the_line(safe), "safe_text gives one line of UTF-8");
  check(safe.size() <= kMaxText, "safe_text is bounded");
  check((safe == safe_text(other)) == (one == other), "two names that differ stay two");

  const std::string message = safe_message(all);
  check(test::clean_line(message) && !moves_the_line(message), "safe_message gives one line of UTF-8");
  check(message.size() <= 4 * size, "safe_message adds no more than it escapes");
  check(safe_message(safe) == safe, "what is safe stays as it is");

  const std::string_view inner = trim(all);
  constexpr std::string_view blanks(" \t\r\n\0", 5);
  check(inner.empty() || (!blanks.contains(inner.front()) && !blanks.contains(inner.back())), "trim leaves no blanks");
  check(trim(inner) == inner, "trimmed once is trimmed");
  return 0;
}
