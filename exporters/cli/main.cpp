// SPDX-License-Identifier: Apache-2.0
// qpscope, the command for people: words → the daemon's API → a table.
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "core/text.h"
#include "words.h"

namespace qpscope::cli {
namespace {

int offer(std::span<const std::string> words) {
  std::string out;
  for (const std::string& word : completions(words)) out += word + "\n";
  return print(out) ? kDone : kRefused;
}

int qpscope(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "complete") return offer(std::vector<std::string>(argv + 2, argv + argc));
  const auto command = parse(argc, argv);
  if (!command) return command.error();
  Client client(command->socket);
  Session session{client, screen_of(STDOUT_FILENO)};
  const auto exit = command->run(session);
  if (exit) return *exit;
  std::fprintf(stderr, "qpscope: %s\n", safe_message(exit.error().message).c_str());
  return exit.error().exit;
}

}  // namespace
}  // namespace qpscope::cli

int main(int argc, char** argv) { return qpscope::cli::qpscope(argc, argv); }
