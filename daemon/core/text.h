// SPDX-License-Identifier: Apache-2.0
// The one place where untrusted bytes become text that is safe in Prometheus pages, JSON, the journal and a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace qpscope {

inline constexpr std::size_t kMaxText = 128;  // bytes of the result at most

// Invalid UTF-8, control characters (C0, DEL, C1, line and paragraph separators, bidirectional controls) and backslashes become \xNN, byte by byte.
// A result longer than kMaxText is cut between characters and ends in "~" and 16 hexadecimal digits of a hash over
// the whole input, so that two long names that differ stay two names. Idempotent is what it is not: call it once, at the door out.
std::string safe_text(std::string_view untrusted);

// Short printable ASCII without backslash, as nearly every name is: safe_text() would give the same.
bool is_plain(std::string_view text);

// A whole message that may hold names, safe or raw: like safe_text, but backslashes stay, and so does the length. The last
// defence of the log and of standard error: no name breaks out of its line.
std::string safe_message(std::string_view message);

// UTF-8 from end to end, whatever the characters.
bool is_utf8(std::string_view text);

// [first, last) trimmed of blanks, tabs, CR, LF and NUL at both ends.
std::string_view trim(std::string_view text);

}  // namespace qpscope
