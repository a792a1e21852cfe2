// SPDX-License-Identifier: Apache-2.0
// What the targets share: a property that must hold, and numbers and texts out of the input's bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

namespace qpscope::fuzz {

// Not true: the process ends, which libFuzzer and the replay take for the finding that it is.
inline void check(bool holds, const char* what, std::source_location at = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%u: not true: %s\n", at.file_name(), static_cast<unsigned>(at.line()), what);
  std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) { return {reinterpret_cast<const char*>(data), size}; }

// Cuts the first line off `text`, without its newline.
inline std::string_view next_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// The input as a row of values. At its end there are zeros and empty texts.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(text_of(data, size)) {}

  bool empty() const { return rest_.empty(); }
  std::string_view bytes(std::size_t most) {
    const std::string_view out = rest_.substr(0, most);
    rest_.remove_prefix(out.size());
    return out;
  }
  template <class Number>
    requires std::is_arithmetic_v<Number>
  Number number() {
    Number out{};
    const std::string_view from = bytes(sizeof out);
    if (!from.empty()) std::memcpy(&out, from.data(), from.size());
    return out;
  }
  std::size_t below(std::size_t limit) { return number<std::uint8_t>() % limit; }  // limit: 256 at most
  std::string text() { return std::string(bytes(number<std::uint8_t>())); }

 private:
  std::string_view rest_;
};

}  // namespace qpscope::fuzz
