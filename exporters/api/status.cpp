// SPDX-License-Identifier: Apache-2.0
#include "exporters/api/status.h"

#include <set>

#include "core/text.h"
#include "exporters/api/json.h"
#include "exporters/api/qp_states.h"

namespace qpscope {
namespace {

Json cost_json(const Status& status) {
  Json out = Json::object();
  if (status.cpu_seconds) out["cpu_seconds"] = milliseconds(*status.cpu_seconds);
  if (status.resident_bytes) out["resident_bytes"] = *status.resident_bytes;
  if (status.bpf_seconds) out["bpf_seconds"] = *status.bpf_seconds;
  if (status.firmware_commands) out["firmware_commands"] = std::to_string(*status.firmware_commands);
  return out;
}

Json bpf_json(const Status& status) {
  Json out{{"on", status.bpf}};
  if (!status.bpf_reason.empty()) out["reason"] = safe_message(status.bpf_reason);
  std::uint64_t events = 0;
  for (const auto& [kind, count] : status.events) events += count;
  out["events"] = std::to_string(events);
  out["lost"] = std::to_string(status.losses.total());
  return out;
}

Json troubles_json(const Status& status) {
  Json out = Json::array();
  for (const Trouble& one : status.troubles) {
    Json trouble{{"severity", to_string(one.severity)}};
    put(trouble, "device", one.device);
    trouble["what"] = safe_message(one.what);
    out.push_back(std::move(trouble));
  }
  return out;
}

}  // namespace

std::string status_json(const Snapshot& snapshot, PagesNow pages) {
  const Status& status = *snapshot.status;
  Json out{{"version", status.version}};
  put(out, "host", status.host);
  put(out, "kernel", status.kernel);
  out["ready"] = pages.ready;
  out["uptime_seconds"] = milliseconds(seconds(snapshot.at, status.started));
  out["devices"]["found"] = status.devices_found;
  if (status.devices_expected) out["devices"]["expected"] = *status.devices_expected;
  // Where netlink names no device nothing can be said of queue pairs.
  if (!snapshot.devices->empty()) {
    QpStates states;
    std::set<TenantId> tenants;
    for (const QpRecord& qp : *snapshot.queue_pairs) {
      states.add(qp);
      tenants.insert(qp.tenant);
    }
    out["queue_pairs"] = {{"total", states.total()}, {"by_state", states.json()}};
    out["tenants"] = tenants.size();
  }
  if (pages.series > 0) out["series"] = pages.series;
  out["bpf"] = bpf_json(status);
  out["cost"] = cost_json(status);
  out["troubles"] = troubles_json(status);
  return out.dump();
}

}  // namespace qpscope
