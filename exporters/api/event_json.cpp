// SPDX-License-Identifier: Apache-2.0
#include "exporters/api/event_json.h"

#include "core/text.h"
#include "exporters/api/json.h"

namespace qpscope {

std::string event_json(const HistoryEvent& event, double wall_minus_boot) {
  const HistoryKindRow& row = history_kinds()[static_cast<std::size_t>(event.kind)];
  Json out{{"id", std::to_string(event.id)}, {"timestamp_seconds", unix_seconds(event.at, wall_minus_boot)}, {"kind", row.name},
           {"severity", to_string(event.severity.value_or(row.severity))}};
  put(out, "device", event.device);
  if (event.port.value) out["port"] = event.port.value;
  if (event.qpn) out["qpn"] = event.qpn->value;
  put(out, "tenant", event.tenant);
  put(out, "workload", event.workload);
  if (event.pid.value) out["pid"] = event.pid.value;
  put(out, "comm", event.comm);
  put(out, "remote_gid", event.remote_gid);
  if (event.remote_qpn) out["remote_qpn"] = event.remote_qpn->value;
  out["message"] = safe_message(event.message);
  return out.dump();
}

}  // namespace qpscope
