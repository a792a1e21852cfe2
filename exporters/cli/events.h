// SPDX-License-Identifier: Apache-2.0
// `qpscope events`: what happened, and with --follow what happens.
#pragma once

#include "session.h"

namespace qpscope::cli {

struct EventOptions : ListOptions {  // filters: kind and device, which the daemon knows
  std::vector<std::string> tenants, workloads;  // any of them; empty: all
  std::string severity;                         // info, warning or error: that and worse; empty: all
  double since = 0;                             // seconds before now; 0: all that is remembered
  bool follow = false;
};

// Events that pass what is not the daemon's to filter. `now` in Unix seconds.
Json wanted_events(const Json& events, const EventOptions& options, double now);
Table event_table(const Json& events);
Outcome<Exit> events(Session& session, const EventOptions& options);

}  // namespace qpscope::cli
