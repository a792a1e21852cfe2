// SPDX-License-Identifier: Apache-2.0
#include "probes.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "text_width.h"
#include "units.h"

namespace qpscope::cli {
namespace {

// Detaching takes the kernel a moment for each program, and the daemon publishes once in an interval.
constexpr std::chrono::seconds kMostWait{60};
constexpr std::chrono::milliseconds kPause{100};

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

namespace {

// What the daemon publishes says that it is done: nothing is attached any more, or nobody holds them off.
bool done(const Json& data, bool off) {
  if (!off) return !text_of(child(data, "bpf"), "back_in_seconds");
  return std::ranges::none_of(child(data, "probes"), [](const Json& probe) { return text_or(probe, "attached", "") == "true"; });
}

Outcome<Exit> switch_probes(Session& session, const ProbesOptions& options) {
  const bool off = options.action == "off";
  Json wanted{{"attached", !off}};
  if (off) wanted["seconds"] = options.seconds;
  const auto answer = session.client.post("/api/v1/probes", wanted);
  if (!answer) return std::unexpected(answer.error());
  for (const auto end = std::chrono::steady_clock::now() + kMostWait;; std::this_thread::sleep_for(kPause)) {
    const auto now = session.client.get("/api/v1/probes", {});
    if (!now) return std::unexpected(now.error());
    if (done(now->at("data"), off)) break;
    if (std::chrono::steady_clock::now() > end) {
      return std::unexpected(Failure{kRefused, std::string("the probes are still ") + (off ? "attached" : "off") + "; qpscope probes says more"});
    }
  }
  if (options.json) return finish(json_text(*answer));
  return finish(off ? text_or(answer->at("data"), "message", "done") + "\nNothing is attached.\n" : text_or(answer->at("data"), "message", "done") + "\n");
}

}  // namespace

Outcome<Exit> probes(Session& session, const ProbesOptions& options) {
  if (!options.action.empty()) return switch_probes(session, options);
  const auto answer = session.client.get("/api/v1/probes", {});
  if (!answer) return std::unexpected(answer.error());
  return finish(options.json ? json_text(*answer) : probes_text(answer->at("data"), session.screen));
}

}  // namespace qpscope::cli
