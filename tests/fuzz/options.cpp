// SPDX-License-Identifier: Apache-2.0
// A command line, one argument a line: options within their ranges, or an exit code.
#include "options.h"

#include <cmath>
#include <iostream>
#include <vector>

#include "fuzz/fuzz.h"

using namespace qpscope;
using fuzz::check;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::text_of(data, size);
  std::vector<std::string> arguments{"qpscoped"};
  while (!text.empty() && arguments.size() < 16) {
    std::string argument(fuzz::next_line(text));
    argument.resize(std::strlen(argument.c_str()));
    arguments.push_back(std::move(argument));
  }
  std::vector<char*> argv;
  for (std::string& one : arguments) argv.push_back(one.data());
  argv.push_back(nullptr);

  // Help and mistakes are printed.
  std::cout.setstate(std::ios::failbit);
  std::cerr.setstate(std::ios::failbit);
  const auto options = parse_options(static_cast<int>(arguments.size()), argv.data());
  if (!options) {
    check(options.error() == 0 || options.error() == 2, "an exit code is 0 or 2");
    return 0;
  }
  check(options->samples >= 1 && options->samples <= 1'000'000, "samples are within their range");
  check(std::isfinite(options->interval) && options->interval >= 0 && options->interval <= 86400, "the interval is within its range");
  check((options->owner != 0) == (options->mode == Options::Mode::owner), "a pid comes with --owner, and only with it");
  check(options->mode == Options::Mode::once || (options->samples == 1 && options->interval == 1), "samples and interval need --once");
  return 0;
}
