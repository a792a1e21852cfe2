// SPDX-License-Identifier: Apache-2.0
#include "findings.h"

#include <algorithm>

#include "port_rates.h"
#include "ports.h"
#include "units.h"

namespace qpscope::cli {
namespace {

constexpr double kStaleSeconds = 30;    // sampling.stale_after as it is by default
constexpr double kWholeHistory = 3600;  // more than the daemon keeps

std::string where_of(const Json& object) {
  const auto device = text_of(object, "device"), port = text_of(object, "port");
  return device && port ? *device + "/" + *port : device.value_or("");
}

void judge_daemon(std::vector<Finding>& out, const Json& status) {
  const Json& data = child(status, "data");
  if (text_or(data, "ready", "") == "false") out.push_back({false, "", "qpscoped has not seen everything yet: it is not ready"});
  if (const auto age = number_of(status, "age_seconds"); age && *age > kStaleSeconds) out.push_back({true, "", "qpscoped looked at this host " + duration(*age) + " ago"});
  for (const Json& trouble : child(data, "troubles")) {
    out.push_back({text_or(trouble, "severity", "") == "error", where_of(trouble), text_or(trouble, "what", "something that has no words")});
  }
}

void judge_queue_pairs(std::vector<Finding>& out, const Json& queue_pairs) {
  const auto judge = [&](const char* state, bool error) {
    const double count = number_of(child(queue_pairs, "by_state"), state).value_or(0);
    if (count <= 0) return;
    const auto total = number_of(queue_pairs, "total");
    out.push_back({error, "", amount(count) + (total ? " of " + amount(*total) : "") + " queue pairs in " + state + ": qpscope qps --state " + state});
  };
  judge("ERR", true);
  judge("SQE", false);
}

bool is_used(const Json& port, std::optional<double> interval) {
  const auto moved = [&](const char* name) { return recent_rate(port, name, interval, kWholeHistory).value_or(0) > 0; };
  return number_of(port, "queue_pairs").value_or(0) > 0 || moved("rx_bytes") || moved("tx_bytes");
}

void judge_port(std::vector<Finding>& out, const Json& port, std::optional<double> interval) {
  const auto state = text_of(port, "state");
  if (state && *state != "ACTIVE" && is_used(port, interval)) {
    out.push_back({true, where_of(port), "is " + *state + text_of(port, "physical_state").transform([](const std::string& text) { return " (" + text + ")"; }).value_or("")});
  }
  const auto retransmits = recent_rate(port, "retransmits", interval, kLastMinute);
  if (retransmits.value_or(0) > kManyRetransmits) out.push_back({false, where_of(port), "retransmits: " + per_second(*retransmits) + " in the last minute"});
  const auto paused = recent_rate(port, "rx_pause_seconds", interval, kLastMinute);
  if (paused.value_or(0) > kMuchPause) out.push_back({false, where_of(port), "paused by the network for " + percent(*paused) + " of the last minute"});
}

}  // namespace

std::vector<Finding> findings(const Json& status, const Json& ports) {
  std::vector<Finding> out;
  judge_daemon(out, status);
  judge_queue_pairs(out, child(child(status, "data"), "queue_pairs"));
  const Json& data = child(ports, "data");
  for (const Json& port : child(data, "ports")) judge_port(out, port, number_of(data, "interval_seconds"));
  std::ranges::stable_partition(out, &Finding::error);
  return out;
}

}  // namespace qpscope::cli
