// SPDX-License-Identifier: Apache-2.0
// What every subcommand is given, and how it ends.
#pragma once

#include <string>

#include "client.h"
#include "screen.h"
#include "table.h"

namespace qpscope::cli {

struct Session {
  Client& client;
  Screen screen;
};

struct ListOptions {
  ParameterList filters;  // parameters of the path
  std::size_t limit = 0;  // entries at most; 0: all
  bool json = false;
};

// Prints it. What cannot be written is nobody's to read: no message.
Outcome<Exit> finish(std::string_view text, Exit exit = kDone);
std::string json_text(const Json& answer, int indent = 2);

// The answer with --json, else the table, else in words that nothing is there.
Outcome<Exit> finish_list(const Session& session, const ListOptions& options, const Json& answer, const Table& table, const char* things);

}  // namespace qpscope::cli
