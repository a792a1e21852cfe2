// SPDX-License-Identifier: Apache-2.0
// Where the command writes: how wide, and whether in colour.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace qpscope::cli {

struct Screen {
  std::size_t columns = 0, rows = 0;  // 0: no limit, as in a file
  bool colour = false;
};

// A terminal has its size; colour too, unless NO_COLOR is set (no-color.org) or TERM is "dumb".
Screen screen_of(int fd);

enum class Tone : std::uint8_t { plain, dim, good, warning, bad, strong, marked };

// In that tone where the screen has colours.
std::string toned(std::string_view text, Tone tone, const Screen& screen);

// Everything on standard output, at once. False where nobody takes it.
bool print(std::string_view text);

}  // namespace qpscope::cli
