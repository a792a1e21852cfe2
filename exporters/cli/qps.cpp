// SPDX-License-Identifier: Apache-2.0
#include "qps.h"

#include <algorithm>

#include "units.h"

namespace qpscope::cli {
namespace {

Cell gid(const Json& qp) {
  Cell cell = text_cell(qp, "remote_gid");
  cell.text = short_gid(cell.text);
  return cell;
}

// What is broken has the largest value, what works the smallest.
Cell state(const Json& qp) {
  Cell cell = text_cell(qp, "state");
  const bool dead = cell.text == "ERR", half = cell.text == "SQE";
  if (cell.text != "-") cell.value = dead ? 3 : half ? 2 : cell.text == "RTS" ? 0 : 1;
  cell.tone = dead ? Tone::bad : half ? Tone::warning : Tone::plain;
  return cell;
}

// Since its last change of state. The latest is the first: a queue pair that just died is what one looks for.
Cell since(const Json& qp, std::optional<double> now) {
  const auto changed = number_of(qp, "state_change_timestamp_seconds");
  if (!changed || !now) return {};
  const double age = std::max(0.0, *now - *changed);
  return {.text = duration(age), .value = -age};
}

}  // namespace

Table qp_table(const Json& queue_pairs, std::optional<double> now) {
  Table table({{"DEVICE"}, {"PORT", 4}, {"QPN"}, {"TYPE", 3}, {"STATE"}, {"SINCE", 5}, {"TENANT", 1, false, 8}, {"WORKLOAD", 1, false, 8}, {"PID", 2},
               {"COMM", 6, false, 8}, {"REMOTE QPN", 7}, {"REMOTE GID", 3}});
  for (const Json& qp : queue_pairs) {
    table.add({text_cell(qp, "device"), number_cell(qp, "port"), number_cell(qp, "qpn"), text_cell(qp, "type"), state(qp), since(qp, now), text_cell(qp, "tenant"),
               text_cell(qp, "workload"), number_cell(qp, "pid"), text_cell(qp, "comm"), number_cell(qp, "remote_qpn"), gid(qp)});
  }
  return table;
}

Outcome<Exit> qps(Session& session, const ListOptions& options) {
  const auto answer = session.client.get_pages("/api/v1/qps", "qps", options.filters, options.limit);
  if (!answer) return std::unexpected(answer.error());
  return finish_list(session, options, *answer, qp_table(answer->at("data").at("qps"), number_of(*answer, "time")), "queue pairs");
}

}  // namespace qpscope::cli
