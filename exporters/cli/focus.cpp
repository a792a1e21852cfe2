// SPDX-License-Identifier: Apache-2.0
#include "focus.h"

namespace qpscope::cli {

Outcome<Exit> focus(Session& session, const FocusOptions& options) {
  const auto answer = session.client.post("/api/v1/focus", {{"device", options.device}, {"qpn", options.qpn}, {"seconds", options.seconds}});
  if (!answer) return std::unexpected(answer.error());
  return finish(options.json ? json_text(*answer) : text_or(answer->at("data"), "message", "done") + "\n");
}

}  // namespace qpscope::cli
