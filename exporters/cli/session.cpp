// SPDX-License-Identifier: Apache-2.0
#include "session.h"

namespace qpscope::cli {

Outcome<Exit> finish(std::string_view text, Exit exit) { return print(text) ? exit : kRefused; }

std::string json_text(const Json& answer, int indent) { return answer.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n"; }

Outcome<Exit> finish_list(const Session& session, const ListOptions& options, const Json& answer, const Table& table, const char* things) {
  if (options.json) return finish(json_text(answer));
  if (table.size() > 0) return finish(table.text(session.screen));
  return finish(std::string("No ") + things + (options.filters.empty() ? ".\n" : " that all filters let through.\n"));
}

}  // namespace qpscope::cli
