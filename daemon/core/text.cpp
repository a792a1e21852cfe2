// SPDX-License-Identifier: Apache-2.0
#include "core/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace qpscope {
namespace {

// Length of the valid UTF-8 character at the start of `s`, or 0. Overlong forms, surrogates and values above U+10FFFF are invalid.
std::size_t utf8_length(std::string_view s, std::uint32_t& code) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return code = lead, 1;
  const std::size_t n = lead >= 0xf0 && lead < 0xf8 ? 4 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xc0 && lead < 0xe0 ? 2 : 0;
  if (n == 0 || s.size() < n) return 0;
  code = lead & (0x7fU >> n);
  for (std::size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  if (code < smallest[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return 0;
  return n;
}

bool harmless(std::uint32_t code) {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0) || code == '\\') return false;
  if (code == 0x2028 || code == 0x2029) return false;                                    // line and paragraph separator
  if (code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e)) return false;  // bidirectional marks: they reorder a terminal's line
  return !(code >= 0x2066 && code <= 0x2069);
}

std::uint64_t fnv1a(std::string_view s) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : s) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

// Appends the character at `i`, as it is or byte by byte as \xNN. The index of the next one.
std::size_t append_safe(std::string& out, std::string_view untrusted, std::size_t i, bool keep_backslash) {
  std::uint32_t code = 0;
  const std::size_t n = utf8_length(untrusted.substr(i), code);
  if (n > 0 && (harmless(code) || (keep_backslash && code == '\\'))) {
    out.append(untrusted, i, n);
    return i + n;
  }
  const std::size_t end = i + (n ? n : 1);
  for (; i < end; ++i) {
    std::array<char, 8> escaped{};
    std::snprintf(escaped.data(), escaped.size(), "\\x%02x", static_cast<unsigned char>(untrusted[i]));
    out += escaped.data();
  }
  return end;
}

}  // namespace

std::string safe_message(std::string_view message) {
  std::string out;
  out.reserve(message.size());
  for (std::size_t i = 0; i < message.size();) i = append_safe(out, message, i, true);
  return out;
}

std::string safe_text(std::string_view untrusted) {
  constexpr std::size_t kTail = 17;  // "~" and 16 digits
  std::string out;
  std::size_t cut = 0;               // the longest prefix of `out` that leaves room for the tail
  for (std::size_t i = 0; i < untrusted.size();) {
    i = append_safe(out, untrusted, i, false);
    if (out.size() <= kMaxText - kTail) cut = out.size();
    if (out.size() > kMaxText) {
      std::array<char, kTail + 1> tail{};
      std::snprintf(tail.data(), tail.size(), "~%016llx", static_cast<unsigned long long>(fnv1a(untrusted)));
      out.resize(cut);
      return out + tail.data();
    }
  }
  return out;
}

bool is_plain(std::string_view text) {
  return text.size() <= kMaxText && std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f && c != '\\'; });
}

bool is_utf8(std::string_view text) {
  std::uint32_t code = 0;
  while (!text.empty()) {
    const std::size_t n = utf8_length(text, code);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks(" \t\r\n\0", 5);
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace qpscope
