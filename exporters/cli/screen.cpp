// SPDX-License-Identifier: Apache-2.0
#include "screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace qpscope::cli {
namespace {

// SGR (ECMA-48, 8.3.117): attributes and the first eight colours alone, which every theme keeps readable.
const char* code_of(Tone tone) {
  switch (tone) {
    case Tone::plain: break;
    case Tone::dim: return "2";
    case Tone::good: return "32";
    case Tone::warning: return "33";
    case Tone::bad: return "1;31";
    case Tone::strong: return "1";
    case Tone::marked: return "1;7";
  }
  return nullptr;
}

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

Screen screen_of(int fd) {
  if (!isatty(fd)) return {};
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) size = {.ws_row = 24, .ws_col = 80};  // a serial line does not know
  return {.columns = size.ws_col, .rows = size.ws_row, .colour = environment("NO_COLOR").empty() && environment("TERM") != "dumb"};
}

std::string toned(std::string_view text, Tone tone, const Screen& screen) {
  const char* const code = screen.colour && !text.empty() ? code_of(tone) : nullptr;
  return code ? std::string("\x1b[") + code + "m" + std::string(text) + "\x1b[0m" : std::string(text);
}

bool print(std::string_view text) { return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0; }

}  // namespace qpscope::cli
