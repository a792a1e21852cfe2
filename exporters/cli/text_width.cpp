// SPDX-License-Identifier: Apache-2.0
#include "text_width.h"

#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <utility>

#include "core/text.h"

namespace qpscope::cli {
namespace {

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// The first character of valid UTF-8.
std::pair<std::size_t, wchar_t> first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t n = std::min<std::size_t>(text.size(), lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4);
  wchar_t code = n == 1 ? lead : lead & (0x7f >> n);
  for (std::size_t i = 1; i < n; ++i) code = (code << 6) | (text[i] & 0x3f);
  return {n, code};
}

// wcwidth() asks the locale of the thread, and the C locale knows of ASCII alone. Where there is no C.UTF-8, so do we.
int width_of(wchar_t character) {
  static const locale_t kLocale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (character < 0x80) return 1;
  if (!kLocale) return -1;
  const locale_t before = uselocale(kLocale);
  const int width = wcwidth(character);
  uselocale(before);
  return width;
}

}  // namespace

std::string displayable(std::string_view untrusted) {
  std::string text = safe_message(untrusted);
  if (is_ascii(text)) return text;
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const auto [bytes, character] = first_of(rest);
    if (width_of(character) > 0) {
      out += rest.substr(0, bytes);
    } else {
      out += '?';
    }
    rest.remove_prefix(bytes);
  }
  return out;
}

std::size_t columns_of(std::string_view text) {
  if (is_ascii(text)) return text.size();
  std::size_t columns = 0;
  while (!text.empty()) {
    const auto [bytes, character] = first_of(text);
    columns += static_cast<std::size_t>(std::max(width_of(character), 1));
    text.remove_prefix(bytes);
  }
  return columns;
}

std::string fit(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::string out;
  std::size_t left = columns - 1;  // the dots take one
  while (!text.empty()) {
    const std::size_t bytes = first_of(text).first;
    const std::string_view character = text.substr(0, bytes);
    if (columns_of(character) > left) break;
    left -= columns_of(character);
    out += character;
    text.remove_prefix(bytes);
  }
  return out + "…";
}

}  // namespace qpscope::cli
