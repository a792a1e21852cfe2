// SPDX-License-Identifier: Apache-2.0
#include "exporters/api/probes.h"

#include "core/text.h"
#include "exporters/api/json.h"

namespace qpscope {
namespace {

Json probe_json(const ProbeView& probe) {
  Json out{{"probe", probe.probe}};
  put(out, "feature", probe.feature);
  out["how"] = probe.how;
  out["attached"] = probe.attached;
  if (probe.waiting) out["waiting"] = true;
  if (!probe.reason.empty()) out["reason"] = safe_message(probe.reason);
  if (probe.runs) out["runs"] = std::to_string(*probe.runs);
  if (probe.run_seconds) out["run_seconds"] = *probe.run_seconds;
  if (probe.missed) out["missed"] = std::to_string(*probe.missed);
  return out;
}

}  // namespace

std::string probes_json(const Status& status) {
  Json out;
  out["bpf"]["on"] = status.bpf;
  if (status.probes_back_seconds) out["bpf"]["back_in_seconds"] = *status.probes_back_seconds;
  if (!status.bpf_reason.empty()) out["bpf"]["reason"] = safe_message(status.bpf_reason);
  out["probes"] = Json::array();
  for (const ProbeView& probe : status.probes) out["probes"].push_back(probe_json(probe));
  out["events"]["received"] = Json::object();
  for (const auto& [kind, count] : status.events) out["events"]["received"][kind] = std::to_string(count);
  out["events"]["lost"] = {{"ring_full", std::to_string(status.losses.ring_full)}, {"recursion", std::to_string(status.losses.recursion)},
                           {"kretprobe_missed", std::to_string(status.losses.kretprobe_missed)}, {"decode", std::to_string(status.losses.decode)}};
  return out.dump();
}

}  // namespace qpscope
