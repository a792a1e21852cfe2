// SPDX-License-Identifier: Apache-2.0
#include "exporters/api/tenants.h"

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/text.h"
#include "exporters/api/json.h"
#include "exporters/api/qp_states.h"
#include "exporters/api/samples.h"
#include "exporters/api/totals.h"

namespace qpscope {
namespace {

struct Entry {
  const Tenant* tenant = nullptr;  // null: there are totals alone
  QpStates queue_pairs;
  std::set<std::string_view> devices;
  std::map<std::tuple<std::string_view, std::uint32_t, std::string_view>, std::vector<const Sample*>> ports;  // device, port, method
};
using Entries = std::map<std::pair<std::string_view, std::string_view>, Entry>;  // tenant, workload

Entries find(const Snapshot& snapshot) {
  Entries out;
  std::vector<Entry*> by_id(snapshot.tenants->size());
  for (const QpRecord& qp : *snapshot.queue_pairs) {
    Entry*& entry = by_id.at(qp.tenant);
    if (!entry) {
      const Tenant& tenant = (*snapshot.tenants)[qp.tenant];
      entry = &out[tenant.key()];
      entry->tenant = &tenant;
    }
    entry->queue_pairs.add(qp);
    if (const auto device = snapshot.devices->find(qp.key.device); device != snapshot.devices->end()) entry->devices.insert(device->second);
  }
  each_sample<bool>(snapshot, [](const MetricDef& def) { return has_total(TotalsOf::tenant, def); }, [&](bool, const Sample& one) {
    const auto port = port_of(one);
    if (port) out[{label_of(one, "tenant"), label_of(one, "workload")}].ports[{port->first, port->second, label_of(one, "method")}].push_back(&one);
  });
  return out;
}

std::string tenant_json(const Entries::value_type& one) {
  const auto& [name, entry] = one;
  Json out{{"tenant", safe_text(name.first)}, {"workload", safe_text(name.second)}};
  if (entry.tenant) put(out, "kind", entry.tenant->kind);
  out["queue_pairs"] = entry.queue_pairs.total();
  out["by_state"] = entry.queue_pairs.json();
  out["devices"] = Json::array();
  for (const std::string_view device : entry.devices) out["devices"].push_back(safe_text(device));
  out["ports"] = Json::array();
  for (const auto& [where, samples] : entry.ports) {
    const auto& [device, port, method] = where;
    out["ports"].push_back(Json{{"device", safe_text(device)}, {"port", port}, {"method", safe_text(method)}, {"totals", totals_json(TotalsOf::tenant, samples)}});
  }
  return out.dump();
}

}  // namespace

HttpResponse tenants_response(std::shared_ptr<const Snapshot> snapshot, std::string head) {
  auto found = std::make_shared<const Entries>(find(*snapshot));
  return json_response({.head = std::move(head) + "{\"tenants\":[",
                        .item = [snapshot = std::move(snapshot), found, at = found->begin()]() mutable -> std::optional<std::string> {
                          if (at == found->end()) return std::nullopt;
                          return tenant_json(*at++);
                        },
                        .tail = [] { return "]}}\n"; }});
}

}  // namespace qpscope
