// SPDX-License-Identifier: Apache-2.0
#include "core/incident_triggers.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>

#include "core/text.h"

namespace qpscope {
namespace {

constexpr double kUsualSeconds = 60;   // over which "usual" is averaged, and which have to be known
constexpr double kNextToNothing = 0.01;  // of the usual
constexpr double kForgetSeconds = 900;

enum : std::uint8_t { port_bytes, tenant_bytes };

std::uint8_t role_of(std::string_view name) {
  if (name == "qpscope_port_rx_bytes_total" || name == "qpscope_port_tx_bytes_total") return port_bytes;
  if (name == "qpscope_tenant_rx_bytes_total" || name == "qpscope_tenant_tx_bytes_total") return tenant_bytes;
  return SamplePlaces::kNone;
}

PortNum port_of(std::string_view text) {
  PortNum out;
  std::from_chars(text.data(), text.data() + text.size(), out.value);
  return out;
}

// As people write it, for a message.
std::string place(std::string_view device, std::uint32_t port) { return safe_text(device) + (port ? "/" + std::to_string(port) : ""); }
std::string owner(const std::string& tenant, const std::string& workload) { return safe_text(tenant) + "/" + safe_text(workload); }

// Of those that did not end by a call, or ended by one when work requests failed.
struct Deaths {
  std::size_t found = 0, called = 0;
  std::map<TenantId, std::size_t> tenants;
};

}  // namespace

IncidentTriggers::IncidentTriggers(const TriggerLimits& limits) : limits_(limits), places_(role_of) {}

std::vector<Trigger> IncidentTriggers::look(const Snapshot& snapshot, const FlightRecorder& recorder, std::span<const QpEnding> ended, std::span<const SharedEvent> events,
                                            const Silent& silent) {
  out_.clear();
  std::erase_if(told_, [&](const auto& one) { return seconds(snapshot.at, one.second) >= kQuietSeconds; });
  for (const SharedEvent& one : events) {
    if (one->kind != HistoryKind::port_state || one->severity != Severity::error) continue;
    tell({.at = one->at, .kind = Trigger::Kind::link_down, .device = one->device, .tenant = {}, .workload = {}, .port = one->port, .message = one->message});
  }
  for (const auto& [device, waited] : silent) {
    if (limits_.silent_seconds <= 0 || waited < limits_.silent_seconds) continue;
    tell({.at = snapshot.at, .kind = Trigger::Kind::firmware_stall, .device = device, .tenant = {}, .workload = {}, .port = {},
          .message = safe_text(device) + " has not answered for " + std::to_string(static_cast<unsigned>(waited)) + " s"});
  }
  if (limits_.deaths > 0) look_at_deaths(snapshot, recorder, ended);
  if (limits_.stall_seconds > 0) look_at_flows(snapshot);
  return std::move(out_);
}

// Each thing once in a while: what goes on is one incident.
void IncidentTriggers::tell(Trigger trigger) {
  const auto [known, fresh] = told_.try_emplace({trigger.kind, trigger.device, trigger.port.value, trigger.tenant, trigger.workload}, trigger.at);
  if (fresh) out_.push_back(std::move(trigger));
}

void IncidentTriggers::look_at_deaths(const Snapshot& snapshot, const FlightRecorder& recorder, std::span<const QpEnding> ended) {
  recent_.insert(recent_.end(), ended.begin(), ended.end());
  while (!recent_.empty() && (recent_.size() > QpEndings::kMost || seconds(snapshot.at, recent_.front().at) > kDeathSeconds)) recent_.pop_front();
  if (recent_.empty()) return;
  std::map<std::pair<DeviceIndex, PortNum>, Deaths> ports;
  for (const QpEnding& one : recent_) {
    Deaths& deaths = ports[{one.qp.key.device, one.qp.port}];
    ++(one.how == QpEnding::How::found_in_error ? deaths.found : deaths.called);
    ++deaths.tenants[one.qp.tenant];
  }
  for (const auto& [key, deaths] : ports) {
    const auto name = snapshot.devices->find(key.first);
    if (name == snapshot.devices->end() || deaths.found + deaths.called < limits_.deaths) continue;
    const std::string port = std::to_string(key.second.value);
    const double errors = recorder.grown(static_cast<std::size_t>(kDeathSeconds), [&](const MetricDef& def, const Labels& labels) {
      return def.name == "qpscope_port_completion_errors_total" && labels[0] == name->second && labels[1] == port;
    });
    // Every job ends some day: without failed work requests that is no incident.
    const std::size_t dead = deaths.found + (errors > 0 ? deaths.called : 0);
    if (dead < limits_.deaths) continue;
    const auto largest = std::ranges::max_element(deaths.tenants, {}, [](const auto& one) { return one.second; });
    const Tenant& most = snapshot.tenants->at(largest->first);
    std::string message = std::to_string(dead) + " queue pairs on " + place(name->second, key.second.value) + " ended within " + std::to_string(static_cast<int>(kDeathSeconds)) +
                          " s while work requests failed, " + (deaths.tenants.size() > 1 ? "most" : "all") + " of them of " + owner(most.tenant, most.workload);
    tell({.at = recent_.front().at, .kind = Trigger::Kind::queue_pair_deaths, .device = name->second, .tenant = most.tenant, .workload = most.workload, .port = key.second,
          .message = std::move(message)});
  }
}

void IncidentTriggers::look_at_flows(const Snapshot& snapshot) {
  std::set<FlowKey> read;
  places_.each_new(snapshot.samples, [&](std::uint8_t role, const Sample& one) {
    const double* value = std::get_if<double>(&one.value);
    if (!value) return;
    const std::size_t at = role == tenant_bytes ? 2 : 0;  // tenant and workload come before device and port
    FlowKey key{one.labels[at], one.labels[at + 1], at ? one.labels[0] : std::string_view(), at ? one.labels[1] : std::string_view()};
    if (!flows_.contains(key) && flows_.size() == kMostWatched) return;
    flows_[key].sum += *value;
    read.insert(std::move(key));
  });
  for (const FlowKey& key : read) look_at_flow(snapshot, key, flows_.at(key));
  std::erase_if(flows_, [&](const auto& one) { return seconds(snapshot.at, one.second.at) > kForgetSeconds; });
}

void IncidentTriggers::look_at_flow(const Snapshot& snapshot, const FlowKey& key, Flow& flow) {
  const double sum = std::exchange(flow.sum, 0);
  const double passed = seconds(snapshot.at, flow.at), before = flow.total;
  const bool first = flow.at.value == 0;
  flow.total = sum;
  flow.at = snapshot.at;
  if (first) flow.since = snapshot.at;
  if (first || sum < before || passed <= 0) return;
  const double rate = (sum - before) / passed;
  const bool known = flow.usual >= kUsualBytes && seconds(snapshot.at, flow.since) >= kUsualSeconds;
  if (!known || rate > flow.usual * kNextToNothing) {
    flow.usual += (rate - flow.usual) * std::min(1.0, passed / kUsualSeconds);
    flow.quiet = {};
    flow.told = false;
    return;
  }
  if (flow.quiet.value == 0) flow.quiet = snapshot.at;
  if (flow.told || seconds(snapshot.at, flow.quiet) < limits_.stall_seconds) return;
  flow.told = true;
  const auto& [device, port, tenant, workload] = key;
  // One that has closed its queue pairs is done.
  std::set<TenantId> left;
  for (const QpRecord& qp : *snapshot.queue_pairs) {
    const auto name = snapshot.devices->find(qp.key.device);
    if (qp.state != QpState::rts || is_special(qp.type) || name == snapshot.devices->end() || name->second != device || qp.port != port_of(port)) continue;
    const Tenant& of = snapshot.tenants->at(qp.tenant);
    if (tenant.empty() || (of.tenant == tenant && of.workload == workload)) left.insert(qp.tenant);
  }
  if (left.empty()) return;
  const Tenant& whose = snapshot.tenants->at(*left.begin());
  const std::string who = left.size() == 1 ? owner(whose.tenant, whose.workload) : std::to_string(left.size()) + " workloads";
  tell({.at = flow.quiet, .kind = Trigger::Kind::workload_stall, .device = device, .tenant = left.size() == 1 ? whose.tenant : std::string(),
        .workload = left.size() == 1 ? whose.workload : std::string(), .port = port_of(port),
        .message = who + " on " + place(device, port_of(port).value) + " moved " + std::to_string(static_cast<std::uint64_t>(flow.usual / 1e6)) + " MB/s and now next to nothing for " +
                   std::to_string(static_cast<unsigned>(limits_.stall_seconds)) + " s, with its queue pairs in RTS"});
}

}  // namespace qpscope
