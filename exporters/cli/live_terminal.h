// SPDX-License-Identifier: Apache-2.0
// A whole screen that is drawn again and again, and keys as they are pressed. One at a time in a process: signals are.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace qpscope::cli {

class LiveTerminal {
 public:
  // Standard input and output are terminals.
  static bool possible();

  // Takes the terminal: the other screen, no echo, no line editing. It is given back by the destructor, and by every signal that ends the process,
  // which then does end it; Ctrl-Z gives it back for as long as the process is stopped.
  LiveTerminal();
  ~LiveTerminal();
  LiveTerminal(const LiveTerminal&) = delete;
  LiveTerminal& operator=(const LiveTerminal&) = delete;

  // From the top left on; below the last line nothing is left of what was there. Lines are not wider than the screen.
  void draw(const std::vector<std::string>& lines);
  // What was typed, or nothing when the time is over or the size of the screen has changed. std::nullopt: the terminal is gone.
  std::optional<std::string> wait(std::chrono::milliseconds at_most);

 private:
  int resized_;  // a signalfd: SIGWINCH, and SIGCONT, after which all has to be drawn again
};

}  // namespace qpscope::cli
