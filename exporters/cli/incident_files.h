// SPDX-License-Identifier: Apache-2.0
// The files of incidents that the daemon keeps (exporters/incident/incident_json.h): read from the folder itself, so that they can be read where no daemon runs
// any more, or on another machine.
#pragma once

#include <string>
#include <vector>

#include "client.h"

namespace qpscope::cli {

inline constexpr const char* kIncidentFolder = "/var/lib/qpscope/incidents";

// Their heads, the newest first: what cannot be read is left out and counted.
struct IncidentHeads {
  std::vector<Json> heads;
  std::size_t unreadable = 0;
};
Outcome<IncidentHeads> incident_heads(const std::string& folder);

// The incident, whole. `which`: an id, the first part of one, a path of a file; empty: the newest.
Outcome<Json> read_incident(const std::string& folder, const std::string& which);

}  // namespace qpscope::cli
