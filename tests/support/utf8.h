// SPDX-License-Identifier: Apache-2.0
// A judge of text that shares no code with core/text.
#pragma once

#include <cstddef>
#include <string_view>

namespace qpscope::test {

// By the table of RFC 3629 section 4.
inline bool valid_utf8(std::string_view s) {
  const auto in = [&](std::size_t i, unsigned low, unsigned high) {
    return i < s.size() && static_cast<unsigned char>(s[i]) >= low && static_cast<unsigned char>(s[i]) <= high;
  };
  for (std::size_t i = 0; i < s.size();) {
    const auto tail = [&](std::size_t k) { return in(i + k, 0x80, 0xbf); };
    if (in(i, 0x00, 0x7f)) {
      i += 1;
    } else if (in(i, 0xc2, 0xdf) && tail(1)) {
      i += 2;
    } else if (((in(i, 0xe0, 0xe0) && in(i + 1, 0xa0, 0xbf)) || (in(i, 0xe1, 0xec) && tail(1)) ||
                (in(i, 0xed, 0xed) && in(i + 1, 0x80, 0x9f)) || (in(i, 0xee, 0xef) && tail(1))) &&
               tail(2)) {
      i += 3;
    } else if (((in(i, 0xf0, 0xf0) && in(i + 1, 0x90, 0xbf)) || (in(i, 0xf1, 0xf3) && tail(1)) ||
                (in(i, 0xf4, 0xf4) && in(i + 1, 0x80, 0x8f))) &&
               tail(2) && tail(3)) {
      i += 4;
    } else {
      return false;
    }
  }
  return true;
}

// C0, DEL and C1.
inline bool has_control(std::string_view s) {
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto byte = static_cast<unsigned char>(s[i]);
    if (byte < 0x20 || byte == 0x7f) return true;
    if (byte == 0xc2 && i + 1 < s.size() && static_cast<unsigned char>(s[i + 1]) < 0xa0) return true;
  }
  return false;
}

// One line that a terminal, the journal or a page can take.
inline bool clean_line(std::string_view s) { return valid_utf8(s) && !has_control(s); }

}  // namespace qpscope::test
