// SPDX-License-Identifier: Apache-2.0
// Any bytes as a configuration file: a Config, which prints as a file that loads back equal, or an error with a line.
#include <algorithm>
#include <charconv>

#include "config/load.h"
#include "fuzz/fuzz.h"

using namespace qpscope;
using fuzz::check;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::text_of(data, size));
  const auto config = load_config_text(text, "q.yaml");
  if (config) {
    const auto back = load_config_text(print_config(*config), "printed");
    check(back.has_value(), "what was printed loads");
    check(*back == *config, "what was printed loads back equal");
    return 0;
  }
  const std::string& what = config.error().what;
  check(config.error().code == ErrorCode::invalid, "a bad file is ErrorCode::invalid");
  check(what.starts_with("q.yaml:"), "the error begins with the file");
  std::size_t line = 0;
  const auto [end, ec] = std::from_chars(what.data() + 7, what.data() + what.size(), line);
  check(ec == std::errc{} && std::string_view(end, static_cast<std::size_t>(what.data() + what.size() - end)).starts_with(": "), "then comes a line");
  // A "\r" by itself begins a line for YAML.
  const auto lines = static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return c == '\n' || c == '\r'; })) + 1;
  check(line >= 1 && line <= lines, "the line is one of the file's");
  check(what.size() < 2000, "an error is short");
  return 0;
}
