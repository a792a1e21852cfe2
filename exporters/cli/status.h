// SPDX-License-Identifier: Apache-2.0
// `qpscope status`: is something wrong here, and what?
#pragma once

#include "session.h"

namespace qpscope::cli {

struct StatusOptions {
  bool check = false, json = false;
};

// Whole answers of /api/v1/status, /ports and /events; null events: that is not known.
std::string status_text(const Json& status, const Json& ports, const Json& events, const Screen& screen);
Outcome<Exit> status(Session& session, const StatusOptions& options);

}  // namespace qpscope::cli
