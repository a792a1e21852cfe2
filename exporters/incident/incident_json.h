// SPDX-License-Identifier: Apache-2.0
// An incident as JSON: one object in a file of its own. Its first line is a head that can be read alone: the line without its last comma, and a "}".
// One of the doors out for untrusted strings. Pure; takes its time, so it is called on the writer's thread.
//
//   head   schema, id, time, host, version, summary, triggers [{time, kind, device, port, tenant, workload, message}], first: the queue pair that ended first
//   then   began, ended, interval_seconds, series [{name, labels, values}], series_left_out: per second, null where it was not read; ports [labels],
//          endings [{time, how, queue_pair}], endings_left_out, events (as of /api/v1/events), queue_pairs (those of the end, in ERR first), queue_pairs_left_out
#pragma once

#include <string>

#include "core/incident.h"

namespace qpscope {

inline constexpr int kIncidentSchema = 1;

struct IncidentText {
  std::string summary;  // one safe line
  std::string json;
};
IncidentText incident_text(const Incident& incident);

}  // namespace qpscope
