// SPDX-License-Identifier: Apache-2.0
#include "exporters/api/totals.h"

#include <algorithm>
#include <map>

#include "core/text.h"

namespace qpscope {
namespace {

// What lies between the prefix and _total in the name of a family.
struct Row {
  const char* key;
  std::string_view stem;
  const char* parts = nullptr;  // where each sample is shown too, by its last label
};
constexpr Row kRows[] = {
    {"rx_bytes", "rx_bytes"},
    {"tx_bytes", "tx_bytes"},
    {"rx_packets", "rx_packets"},
    {"tx_packets", "tx_packets"},
    {"retransmits", "retransmits", "retransmits_by_cause"},
    {"retransmitted_packets", "retransmitted_packets"},
    {"rx_out_of_sequence_packets", "rx_out_of_sequence_packets"},
    {"rx_cnp_packets", "rx_cnp_packets"},
    {"tx_cnp_packets", "tx_cnp_packets"},
    {"rx_ecn_marked_packets", "rx_ecn_marked_packets"},
    {"rx_rnr_naks", "rx_rnr_naks"},
    {"rx_no_wqe_drops", "rx_no_wqe_drops"},
    {"completion_errors", "completion_errors"},
    {"rx_pause_seconds", "rx_pause_seconds"},      // 802.3x
    {"rx_pause_seconds", "rx_pfc_pause_seconds"},  // and each priority's
    {"tx_pause_seconds", "tx_pause_seconds"},
    {"tx_pause_seconds", "tx_pfc_pause_seconds"},
    {"rx_discards", "rx_discards"},
    {"link_downs", "link_downs"},
};

const Row* row_of(TotalsOf of, std::string_view name) {
  constexpr std::string_view kEnd = "_total";
  const std::string_view prefix = of == TotalsOf::port ? "qpscope_port_" : "qpscope_tenant_";
  if (!name.starts_with(prefix) || !name.ends_with(kEnd)) return nullptr;
  name = name.substr(prefix.size(), name.size() - prefix.size() - kEnd.size());
  const auto row = std::ranges::find(kRows, name, &Row::stem);
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace

bool has_total(TotalsOf of, const MetricDef& def) { return row_of(of, def.name) != nullptr; }

Json totals_json(TotalsOf of, std::span<const Sample* const> samples) {
  std::map<const Row*, double> sums;  // in the order of the rows
  std::map<const Row*, std::map<std::string, double>> parts;
  for (const Sample* one : samples) {
    const Row* row = row_of(of, one->def->name);
    const double* value = std::get_if<double>(&one->value);
    if (!row || !value) continue;
    sums[std::ranges::find_if(kRows, [&](const Row& first) { return std::string_view(first.key) == row->key; })] += *value;
    if (row->parts) parts[row][safe_text(one->labels[one->labels.size() - 1])] += *value;
  }
  Json out = Json::object();
  for (const auto& [row, sum] : sums) {
    out[row->key] = total_text(sum);
    for (const auto& [part, value] : parts[row]) out[row->parts][part] = total_text(value);
  }
  return out;
}

}  // namespace qpscope
