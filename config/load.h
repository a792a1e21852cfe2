// SPDX-License-Identifier: Apache-2.0
// YAML → Config, strictly: an unknown or repeated key, a wrong type or a value out of range is an error with file, line and
// what would be right. Nothing is taken from a bad file. The only yaml-cpp include.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/config.h"
#include "core/error.h"

namespace qpscope {

// Says what is wrong with a regular expression. Passed in, since those who match know the syntax.
using CheckPattern = std::function<Result<>(const std::string& pattern)>;
inline Result<> any_pattern(const std::string&) { return {}; }

Result<Config> load_config_file(const std::string& path, const CheckPattern& check_pattern = any_pattern);
// `name` stands for the file in messages.
Result<Config> load_config_text(const std::string& text, const std::string& name, const CheckPattern& check_pattern = any_pattern);

// Every key with its value, as a file that loads back to the same Config.
std::string print_config(const Config& config);

// "sampling.interval", …: all keys there are.
std::vector<std::string> config_keys();

}  // namespace qpscope
