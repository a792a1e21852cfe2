// SPDX-License-Identifier: Apache-2.0
// The command line of qpscoped.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

namespace qpscope {

struct Options {
  enum class Mode : std::uint8_t { run, once, check, owner, print_config, print_metrics };
  Mode mode = Mode::run;
  std::optional<std::string> config;  // --config
  std::string root = "/";
  unsigned samples = 1;
  double interval = 1;                // seconds between samples
  std::uint32_t owner = 0;
};

// The exit code where there is nothing more to do: 0 after --help and --version, 2 after a mistake, which has been explained.
std::expected<Options, int> parse_options(int argc, char** argv);

}  // namespace qpscope
