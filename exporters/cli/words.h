// SPDX-License-Identifier: Apache-2.0
// The command line: words → what to do. The only place that knows it, but for the manual page, which a check compares.
#pragma once

#include <expected>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "session.h"

namespace qpscope::cli {

struct Command {
  std::string socket;
  std::function<Outcome<Exit>(Session&)> run;
};

// The exit code where there is nothing more to do: 0 after --help and --version, 2 after a mistake, which has been explained.
std::expected<Command, int> parse(int argc, const char* const* argv);

// `qpscope complete WORD...`, for shells: what the last word may become, after the others. Names of this host come from the daemon; where it does not
// answer, quickly and well, there are none.
std::vector<std::string> completions(std::span<const std::string> words);

}  // namespace qpscope::cli
