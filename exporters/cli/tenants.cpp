// SPDX-License-Identifier: Apache-2.0
#include "tenants.h"

#include <set>

#include "units.h"

namespace qpscope::cli {
namespace {

constexpr const char* kNoted[] = {"rx_bytes", "tx_bytes", "retransmits", "rx_cnp_packets", "completion_errors"};

// Over its ports; not known where no port has it.
std::optional<double> total(const Json& tenant, const char* name) {
  std::optional<double> sum;
  for (const Json& port : child(tenant, "ports")) {
    if (const auto value = number_of(child(port, "totals"), name)) sum = sum.value_or(0) + *value;
  }
  return sum;
}

std::string key_of(const Json& tenant, const char* name) { return text_or(tenant, "tenant", "") + '\n' + text_or(tenant, "workload", "") + '\n' + name; }

// Each once, in the order in which they are there.
Cell joined(const std::set<std::string>& texts) {
  Cell cell;
  for (const std::string& text : texts) cell.text = cell.text == "-" ? text : cell.text + "," + text;
  return cell;
}

Cell devices(const Json& tenant) {
  std::set<std::string> names;
  for (const Json& name : child(tenant, "devices")) {
    if (const auto text = text_of({{"name", name}}, "name")) names.insert(*text);
  }
  return joined(names);
}

Cell methods(const Json& tenant) {
  std::set<std::string> names;
  for (const Json& port : child(tenant, "ports")) {
    if (const auto text = text_of(port, "method")) names.insert(*text);
  }
  return joined(names);
}

}  // namespace

Table tenant_table(const Json& tenants, const RateBook* rates) {
  Table table({{"TENANT", 0, false, 10}, {"WORKLOAD", 0, false, 10}, {"KIND", 6}, {"QPS", 0, true}, {"ERR", 0, true}, {"RX", 1, true}, {"TX", 1, true}, {"RETRANS", 0, true},
               {"CNP", 3, true}, {"CQ ERRORS", 2, true}, {"DEVICES", 4, false, 8}, {"COUNTED BY", 5, false, 8}});
  for (const Json& tenant : tenants) {
    const auto measure = [&](const char* name, std::string (*unit)(double), std::string (*rate)(double), Tone tone = Tone::plain) {
      const auto value = rates ? rates->rate(key_of(tenant, name)) : total(tenant, name);
      return value_cell(value, rates ? rate : unit, value.value_or(0) > 0 ? tone : Tone::plain);
    };
    const Json& states = child(tenant, "by_state");
    const double dead = number_of(states, "ERR").value_or(0);
    table.add({text_cell(tenant, "tenant"), text_cell(tenant, "workload"), text_cell(tenant, "kind"), value_cell(number_of(tenant, "queue_pairs"), amount),
               value_cell(states.is_object() ? std::optional(dead) : std::nullopt, amount, dead > 0 ? Tone::bad : Tone::plain), measure("rx_bytes", bytes, bit_rate),
               measure("tx_bytes", bytes, bit_rate), measure("retransmits", amount, per_second, Tone::warning), measure("rx_cnp_packets", amount, per_second),
               measure("completion_errors", amount, per_second, Tone::warning), devices(tenant), methods(tenant)});
  }
  return table;
}

void note_tenants(RateBook& rates, const Json& tenants, double unix_seconds) {
  rates.begin(unix_seconds);
  for (const Json& tenant : tenants) {
    for (const char* const name : kNoted) {
      if (const auto value = total(tenant, name)) rates.add(key_of(tenant, name), *value);
    }
  }
  rates.end();
}

Outcome<Exit> tenants(Session& session, const ListOptions& options) {
  const auto answer = session.client.get_list("/api/v1/tenants", "tenants", options.filters);
  if (!answer) return std::unexpected(answer.error());
  return finish_list(session, options, *answer, tenant_table(answer->at("data").at("tenants")), "tenants with queue pairs or counters");
}

}  // namespace qpscope::cli
