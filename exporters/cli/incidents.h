// SPDX-License-Identifier: Apache-2.0
// `qpscope incidents` and `qpscope record`: what the flight recorder kept, and that it shall keep now.
#pragma once

#include "session.h"

namespace qpscope::cli {

struct IncidentsOptions {
  std::string action = "list", incident, folder;
  bool json = false, html = false;
};
Outcome<Exit> incidents(Session& session, const IncidentsOptions& options);

struct RecordOptions {
  std::string reason;
  bool json = false;
};
Outcome<Exit> record(Session& session, const RecordOptions& options);

}  // namespace qpscope::cli
