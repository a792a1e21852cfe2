// SPDX-License-Identifier: Apache-2.0
#include "exporters/incident/incident_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "core/text.h"
#include "exporters/api/event_json.h"
#include "exporters/api/json.h"
#include "exporters/api/qp_json.h"

namespace qpscope {
namespace {

constexpr std::size_t kMostQueuePairs = 2000;

Json trigger_json(const Trigger& trigger, double wall_minus_boot) {
  Json out{{"time", unix_seconds(trigger.at, wall_minus_boot)}, {"kind", to_string(trigger.kind)}};
  put(out, "device", trigger.device);
  if (trigger.port.value) out["port"] = trigger.port.value;
  put(out, "tenant", trigger.tenant);
  put(out, "workload", trigger.workload);
  out["message"] = safe_message(trigger.message);
  return out;
}

std::string ending_json(const Incident& incident, const QpEnding& ending) {
  std::string out = Json{{"time", unix_seconds(ending.at, incident.wall_minus_boot)}, {"how", to_string(ending.how)}}.dump();
  out.back() = ',';
  return out + "\"queue_pair\":" + qp_json(*incident.snapshot, ending.qp, incident.wall_minus_boot) + "}";
}

// Four digits are more than a chart shows. Written here, since values of a JSON library are many times as large.
void add_number(std::string& out, float value) {
  if (std::isnan(value)) {
    out += "null";
    return;
  }
  std::array<char, 32> text{};
  out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 4).ptr);
}

std::string labels_json(const MetricDef& def, const Labels& labels) {
  Json out = Json::object();
  for (std::size_t i = 0; i < labels.size(); ++i) out[std::string(def.labels.names.at(i))] = safe_text(labels[i]);
  return out.dump();
}

std::string series_json(const FlightRecorder::Series& series) {
  std::string out = "{\"name\":\"" + std::string(series.def->name) + "\",\"labels\":" + labels_json(*series.def, series.labels) + ",\"values\":[";
  for (const float value : series.values) {
    add_number(out, value);
    out += ',';
  }
  if (out.back() == ',') out.pop_back();
  return out + "]}";
}

template <class List, class Text>
void add_list(std::string& out, const char* key, const List& list, Text text) {
  out += ",\n\"" + std::string(key) + "\":[";
  bool first = true;
  for (const auto& one : list) {
    if (!first) out += ",\n";
    first = false;
    out += text(one);
  }
  out += "]";
}

std::vector<const QpRecord*> queue_pairs(const Snapshot& snapshot) {
  std::vector<const QpRecord*> out;
  out.reserve(snapshot.queue_pairs->size());
  for (const QpRecord& qp : *snapshot.queue_pairs) out.push_back(&qp);
  std::ranges::stable_partition(out, [](const QpRecord* qp) { return qp->state == QpState::err || qp->state == QpState::sqe; });
  out.resize(std::min(out.size(), kMostQueuePairs));
  return out;
}

std::vector<const Sample*> port_infos(const Snapshot& snapshot) {
  std::vector<const Sample*> out;
  for (const SharedSamples& list : snapshot.samples) {
    for (const Sample& one : *list) {
      if (one.def->name == "qpscope_port_info") out.push_back(&one);
    }
  }
  return out;
}

// Of somebody who asks "what happened": why it was kept, and who was the first.
std::string summary_of(const Incident& incident, const QpEnding* first) {
  std::string out = incident.triggers.empty() ? std::string() : safe_message(incident.triggers.front().message);
  if (!first) return out;
  const Snapshot& snapshot = *incident.snapshot;
  const QpRecord& qp = first->qp;
  const Tenant& tenant = snapshot.tenants->at(qp.tenant);
  const auto device = snapshot.devices->find(qp.key.device);
  out += "; the first was queue pair " + std::to_string(qp.qpn.value);
  if (device != snapshot.devices->end()) out += " on " + safe_text(device->second) + "/" + std::to_string(qp.port.value);
  out += " of " + safe_text(tenant.tenant) + "/" + safe_text(tenant.workload);
  if (qp.owner && qp.owner->user && !qp.owner->comm.empty()) out += " (" + safe_text(qp.owner->comm) + ", pid " + std::to_string(qp.owner->tgid.value) + ")";
  if (qp.remote_gid) out += " to " + to_string(*qp.remote_gid);
  if (qp.remote_qpn) out += " qpn " + std::to_string(qp.remote_qpn->value);
  return out;
}

}  // namespace

IncidentText incident_text(const Incident& incident) {
  const Snapshot& snapshot = *incident.snapshot;
  const double wall = incident.wall_minus_boot;
  const QpEnding* const first = first_to_end(incident);
  IncidentText out{.summary = summary_of(incident, first), .json = {}};
  Json triggers = Json::array();
  for (const Trigger& one : incident.triggers) triggers.push_back(trigger_json(one, wall));
  Json head{{"schema", kIncidentSchema}, {"id", incident.id}, {"time", incident.triggers.empty() ? 0 : unix_seconds(incident.triggers.front().at, wall)}};
  if (snapshot.status) {
    put(head, "host", snapshot.status->host);
    put(head, "version", snapshot.status->version);
  }
  head["summary"] = out.summary;
  head["triggers"] = std::move(triggers);
  std::string& json = out.json;
  json = head.dump();
  json.pop_back();
  if (first) json += ",\"first\":" + ending_json(incident, *first);
  const FlightRecorder::Window& window = incident.window;
  json += ",\n\"began\":" + Json(unix_seconds(window.began, wall)).dump() + ",\"ended\":" + Json(unix_seconds(window.ended, wall)).dump() +
          ",\"interval_seconds\":1,\"series_left_out\":" + std::to_string(window.left_out) + ",\"endings_left_out\":" + std::to_string(incident.endings.left_out);
  const auto shown = queue_pairs(snapshot);
  json += ",\"queue_pairs_left_out\":" + std::to_string(snapshot.queue_pairs->size() - shown.size());
  add_list(json, "ports", port_infos(snapshot), [](const Sample* one) { return labels_json(*one->def, one->labels); });
  add_list(json, "endings", incident.endings.endings, [&](const QpEnding& one) { return ending_json(incident, one); });
  add_list(json, "events", incident.events, [&](const SharedEvent& one) { return event_json(*one, wall); });
  add_list(json, "queue_pairs", shown, [&](const QpRecord* one) { return qp_json(snapshot, *one, wall); });
  add_list(json, "series", window.series, [](const FlightRecorder::Series& one) { return series_json(one); });
  json += "}\n";
  return out;
}

}  // namespace qpscope
