// SPDX-License-Identifier: Apache-2.0
#include "probes.h"

#include "text_width.h"
#include "units.h"

namespace qpscope::cli {
namespace {

// {"name": "number", …} → name number, name number
std::string listed(const Json& numbers) {
  std::string out;
  for (const auto& [name, value] : numbers.items()) {
    if (const auto number = number_of(value)) out += (out.empty() ? "" : ", ") + displayable(name) + " " + amount(*number);
  }
  return out.empty() ? "none" : out;
}

Cell state(const Json& probe) {
  const auto attached = text_of(probe, "attached");
  if (!attached) return {};
  if (*attached == "true") return {.text = "attached", .tone = Tone::good};
  return {.text = text_or(probe, "waiting", "") == "true" ? "waiting" : "off", .tone = Tone::warning};  // waiting: for its module
}

std::vector<Cell> row(const Json& probe) {
  const auto runs = number_of(probe, "runs"), seconds = number_of(probe, "run_seconds"), missed = number_of(probe, "missed");
  Cell each;
  if (runs && *runs > 0 && seconds) each = {.text = amount(*seconds / *runs * 1e9) + " ns", .value = *seconds / *runs};
  return {text_cell(probe, "probe"), text_cell(probe, "feature"), state(probe), text_cell(probe, "how"),
          value_cell(runs, amount), each, value_cell(missed, amount, missed.value_or(0) > 0 ? Tone::warning : Tone::plain), text_cell(probe, "reason")};
}

}  // namespace

std::string probes_text(const Json& data, const Screen& screen) {
  const Json& bpf = child(data, "bpf");
  const bool on = text_or(bpf, "on", "") == "true";
  std::string head = std::string("BPF is ") + (on ? "on" : "off");
  if (const auto reason = text_of(bpf, "reason")) head += ": " + *reason;
  std::string out = toned(head, on ? Tone::good : Tone::warning, screen) + "\n";
  const Json& events = child(data, "events");
  if (events.is_object()) out += "events received: " + listed(child(events, "received")) + "\nevents lost: " + listed(child(events, "lost")) + "\n";
  Table table({{"PROBE"}, {"FEATURE", 3}, {"STATE"}, {"HOW", 1}, {"RUNS", 2, true}, {"A RUN", 4, true}, {"MISSED", 2, true}, {"REASON", 0, false, 30}});
  for (const Json& probe : child(data, "probes")) table.add(row(probe));
  return out + (table.size() ? "\n" + table.text(screen) : "No probes.\n");
}

Outcome<Exit> probes(Session& session, bool json) {
  const auto answer = session.client.get("/api/v1/probes", {});
  if (!answer) return std::unexpected(answer.error());
  return finish(json ? json_text(*answer) : probes_text(answer->at("data"), session.screen));
}

}  // namespace qpscope::cli
