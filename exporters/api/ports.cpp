// SPDX-License-Identifier: Apache-2.0
#include "exporters/api/ports.h"

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/port_history.h"
#include "core/rdma.h"
#include "core/text.h"
#include "exporters/api/json.h"
#include "exporters/api/samples.h"
#include "exporters/api/totals.h"
#include "exporters/query.h"

namespace qpscope {
namespace {

enum class Role : std::uint8_t { none, device_info, last_success, port_info, state, physical_state, rate, mtu, total };

constexpr std::string_view kStateCollector = "port_state";  // the one that every port has

Role role_of(const MetricDef& def) {
  static const std::map<std::string_view, Role> roles{{"qpscope_device_info", Role::device_info},
                                                      {"qpscope_collector_last_success_timestamp_seconds", Role::last_success},
                                                      {"qpscope_port_info", Role::port_info},
                                                      {"qpscope_port_state", Role::state},
                                                      {"qpscope_port_physical_state", Role::physical_state},
                                                      {"qpscope_port_rate_bytes_per_second", Role::rate},
                                                      {"qpscope_port_mtu_bytes", Role::mtu}};
  if (const auto found = roles.find(def.name); found != roles.end()) return found->second;
  return has_total(TotalsOf::port, def) ? Role::total : Role::none;
}

struct Port {
  const Sample* info = nullptr;
  std::optional<double> state, physical_state, rate, mtu;
  std::vector<const Sample*> totals;
  std::size_t queue_pairs = 0;
};

struct Device {
  const Sample* info = nullptr;
  std::optional<double> sampled;  // Unix seconds
};

// Everything of the ports that is asked for; points into the snapshot.
struct Ports {
  std::map<std::string_view, Device> devices;
  std::map<PortKey, Port> ports;
};

Ports find(const Snapshot& snapshot, const PortQuery& query) {
  Ports out;
  const auto wanted = [&](std::string_view device, std::uint32_t port) {
    return (query.devices.empty() || query.devices.contains(safe_text(device))) && (query.ports.empty() || query.ports.contains(port));
  };
  each_sample<Role>(snapshot, role_of, [&](Role role, const Sample& one) {
    const double* value = std::get_if<double>(&one.value);
    if (!value) return;
    if (role == Role::device_info) {
      out.devices[label_of(one, "device")].info = &one;
      return;
    }
    if (role == Role::last_success) {
      if (label_of(one, "collector") == kStateCollector) out.devices[label_of(one, "device")].sampled = *value;
      return;
    }
    const auto key = port_of(one);
    if (!key || !wanted(key->first, key->second)) return;
    Port& port = out.ports[*key];
    switch (role) {
      case Role::port_info: port.info = &one; break;
      case Role::state: port.state = *value; break;
      case Role::physical_state: port.physical_state = *value; break;
      case Role::rate: port.rate = *value; break;
      case Role::mtu: port.mtu = *value; break;
      default: port.totals.push_back(&one);
    }
  });
  for (const QpRecord& qp : *snapshot.queue_pairs) {
    const auto device = snapshot.devices->find(qp.key.device);
    if (device == snapshot.devices->end()) continue;
    const auto port = out.ports.find({device->second, qp.port.value});
    if (port != out.ports.end()) ++port->second.queue_pairs;
  }
  return out;
}

// Four digits are more than a chart shows.
std::string rate_text(float rate) {
  if (std::isnan(rate)) return "null";
  std::array<char, 32> out{};
  return {out.data(), std::to_chars(out.data(), out.data() + out.size(), rate, std::chars_format::general, 4).ptr};
}

// Written here, since values of a JSON library are many times as large.
std::string history_json(const PortHistory& history, const PortKey& key) {
  std::string out = "{";
  for (const PortHistory::Rates& one : history.of(key.first, std::to_string(key.second))) {
    out += (out.size() > 1 ? ",\"" : "\"") + std::string(one.family) + "\":[";
    for (const float rate : one.rates) out += rate_text(rate) + ",";
    out.back() = ']';
  }
  return out + "}";
}

std::string port_json(const PortKey& key, const Port& port, const Device* device, bool queue_pairs_known, const PortHistory* history) {
  Json out;
  put(out, "device", key.first);
  out["port"] = key.second;
  if (device && device->info) {
    put(out, "driver", label_of(*device->info, "driver"));
    put(out, "function", label_of(*device->info, "function"));
  }
  if (port.info) {
    put(out, "link_layer", label_of(*port.info, "link_layer"));
    put(out, "netdev", label_of(*port.info, "netdev"));
  }
  if (port.state) put(out, "state", port_state_name(static_cast<unsigned>(*port.state)));
  if (port.physical_state) put(out, "physical_state", port_physical_state_name(static_cast<unsigned>(*port.physical_state)));
  if (port.rate) out["rate_bytes_per_second"] = static_cast<std::uint64_t>(*port.rate);
  if (port.mtu) out["mtu_bytes"] = static_cast<std::uint64_t>(*port.mtu);
  if (queue_pairs_known) out["queue_pairs"] = port.queue_pairs;
  if (device && device->sampled) out["last_sample_timestamp_seconds"] = milliseconds(*device->sampled);
  out["totals"] = totals_json(TotalsOf::port, port.totals);
  std::string text = out.dump();
  if (!history) return text;
  text.back() = ',';
  return text + "\"history\":" + history_json(*history, key) + "}";
}

}  // namespace

Result<PortQuery> parse_port_query(std::string_view text) {
  const auto parameters = parse_query(text);
  if (!parameters) return std::unexpected(parameters.error());
  PortQuery out;
  for (const Parameter& one : *parameters) {
    if (one.name == "device") {
      if (one.value.empty()) return not_a(one, "a name");
      out.devices.insert(one.value);
    } else if (one.name == "port") {
      const auto port = whole_number<std::uint32_t>(one.value);
      if (!port) return not_a(one, "a number");
      out.ports.insert(*port);
    } else if (one.name == "history") {
      if (one.value != "no" && one.value != "yes") return not_a(one, "yes or no");
      out.history = one.value == "yes";
    } else {
      return unknown_parameter(one);
    }
  }
  return out;
}

HttpResponse ports_response(std::shared_ptr<const Snapshot> snapshot, std::string head, PortQuery query) {
  auto found = std::make_shared<const Ports>(find(*snapshot, query));
  return json_response({.head = std::move(head) + "{\"interval_seconds\":" + total_text(PortHistory::kStepSeconds) + ",\"ports\":[",
                        .item = [snapshot = std::move(snapshot), found, history = query.history, at = found->ports.begin()]() mutable -> std::optional<std::string> {
                          if (at == found->ports.end()) return std::nullopt;
                          const auto& [key, port] = *at++;
                          const auto device = found->devices.find(key.first);
                          return port_json(key, port, device == found->devices.end() ? nullptr : &device->second, !snapshot->devices->empty(),
                                           history ? snapshot->port_history.get() : nullptr);
                        },
                        .tail = [] { return "]}}\n"; }});
}

}  // namespace qpscope
