// SPDX-License-Identifier: Apache-2.0
// What a shell may offer for the word under the cursor, from the tree of the command line itself.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace qpscope::cli {

enum class Names : std::uint8_t { none, devices, tenants, workloads, kinds };

// What an option or an argument takes.
struct OptionValues {
  std::vector<std::string> fixed{};
  Names from = Names::none;  // of the daemon
};
using Values = std::map<const CLI::Option*, OptionValues>;

// Sorted, each once. Words are plain: letters, digits, - _ . and no more, so that no name of this host means anything to a shell.
std::vector<std::string> complete(const CLI::App& app, const Values& values, std::span<const std::string> words, const std::string& default_socket);

}  // namespace qpscope::cli
