// SPDX-License-Identifier: Apache-2.0
#include "ports.h"

#include "port_rates.h"
#include "units.h"

namespace qpscope::cli {
namespace {

Tone tone_of(std::optional<double> value, double much) { return !value || *value <= 0 ? Tone::plain : *value > much ? Tone::bad : Tone::warning; }

std::vector<Cell> row(const Json& port, std::optional<double> interval) {
  const auto now = [&](const char* name, std::string (*unit)(double)) { return value_cell(recent_rate(port, name, interval, kNow), unit); };
  const auto alarming = [&](const char* name, std::string (*unit)(double), double much) {
    const auto rate = recent_rate(port, name, interval, kNow);
    return value_cell(rate, unit, tone_of(rate, much));
  };
  const Json& totals = child(port, "totals");
  const auto total = [&](const char* name) { return value_cell(number_of(totals, name), amount); };
  Cell state = text_cell(port, "state");
  state.tone = state.text == "ACTIVE" ? Tone::good : Tone::warning;
  return {text_cell(port, "device"), number_cell(port, "port"), text_cell(port, "netdev"), state, value_cell(number_of(port, "rate_bytes_per_second"), bit_rate),
          value_cell(number_of(port, "queue_pairs"), amount), now("rx_bytes", bit_rate), now("tx_bytes", bit_rate), alarming("retransmits", per_second, kManyRetransmits),
          alarming("rx_pause_seconds", percent, kMuchPause), now("rx_cnp_packets", per_second), now("rx_ecn_marked_packets", per_second), total("completion_errors"),
          total("retransmits"), total("rx_out_of_sequence_packets"), total("rx_rnr_naks"), total("rx_discards"), total("link_downs"),
          text_cell(port, "driver"), text_cell(port, "function")};
}

}  // namespace

Table port_table(const Json& data) {
  Table table({{"DEVICE"}, {"PORT", 1}, {"NETDEV", 6}, {"STATE"}, {"LINK", 6, true}, {"QPS", 2, true}, {"RX", 0, true}, {"TX", 0, true}, {"RETRANS", 0, true},
               {"PAUSED", 1, true}, {"CNP", 3, true}, {"ECN", 4, true}, {"CQ ERRORS", 5, true}, {"RETRANSMITS", 7, true}, {"OUT OF SEQ", 8, true}, {"RNR", 9, true},
               {"DISCARDS", 8, true}, {"DOWNS", 7, true}, {"DRIVER", 10}, {"FUNCTION", 11}});
  const auto interval = number_of(data, "interval_seconds");
  for (const Json& port : child(data, "ports")) table.add(row(port, interval));
  return table;
}

Outcome<Exit> ports(Session& session, const ListOptions& options) {
  const auto answer = session.client.get_list("/api/v1/ports", "ports", options.filters);
  if (!answer) return std::unexpected(answer.error());
  return finish_list(session, options, *answer, port_table(answer->at("data")), "ports");
}

}  // namespace qpscope::cli
