// SPDX-License-Identifier: Apache-2.0
#include "status.h"

#include <algorithm>

#include "events.h"
#include "findings.h"
#include "ports.h"
#include "text_width.h"
#include "units.h"

namespace qpscope::cli {
namespace {

constexpr std::size_t kMostFindings = 20, kMostPorts = 12, kMostEvents = 5;
constexpr double kLately = 3600;  // seconds

using Parts = std::vector<std::optional<std::string>>;

// "name   part, part": what is known of it. Nothing where nothing is.
std::string line(const char* name, const Parts& parts, const Screen& screen) {
  std::string text;
  for (const auto& part : parts) {
    if (part && !part->empty()) text += (text.empty() ? "" : ", ") + *part;
  }
  if (text.empty()) return {};
  std::string head(name);
  head.resize(13, ' ');
  return toned(head, Tone::strong, screen) + (screen.columns ? fit(text, screen.columns - std::min<std::size_t>(13, screen.columns)) : text) + "\n";
}

std::optional<std::string> with(std::optional<double> value, std::string (*unit)(double), const char* before, const char* after = "") {
  return value.transform([&](double number) { return before + unit(number) + after; });
}

std::string states(const Json& queue_pairs) {
  std::string out;
  for (const auto& [state, number] : child(queue_pairs, "by_state").items()) {
    if (const auto count = number_of(number); count && *count > 0) out += (out.empty() ? "" : ", ") + displayable(state) + " " + amount(*count);
  }
  return out.empty() ? out : " (" + out + ")";
}

std::string facts(const Json& status, const Screen& screen) {
  const Json& data = child(status, "data");
  const Json &devices = child(data, "devices"), &queue_pairs = child(data, "queue_pairs"), &bpf = child(data, "bpf"), &cost = child(data, "cost");
  const auto uptime = number_of(data, "uptime_seconds"), cpu = number_of(cost, "cpu_seconds");
  const auto share = cpu && uptime && *uptime > 0 ? std::optional(*cpu / *uptime) : std::nullopt;
  const auto kernel = text_of(data, "kernel"), on = text_of(bpf, "on");
  const std::string expected = with(number_of(devices, "expected"), amount, " of ").value_or("");
  return line("daemon", {"qpscoped " + text_or(data, "version", "of an unknown version"), with(uptime, duration, "up "),
                         with(number_of(status, "age_seconds"), duration, "looked ", " ago"), kernel ? "kernel " + *kernel : ""}, screen) +
         line("devices", {with(number_of(devices, "found"), amount, "", expected.c_str())}, screen) +
         line("queue pairs", {with(number_of(queue_pairs, "total"), amount, "", states(queue_pairs).c_str()), with(number_of(data, "tenants"), amount, "", " tenants")}, screen) +
         line("BPF", {!on ? "" : *on == "true" ? "on" : "off", text_of(bpf, "reason"), with(number_of(bpf, "events"), amount, "", " events"),
                      with(number_of(bpf, "lost"), amount, "", " lost")}, screen) +
         line("cost", {with(share, percent, "", " of a core"), with(number_of(cost, "resident_bytes"), bytes, ""),
                       with(number_of(cost, "firmware_commands"), amount, "", " firmware commands"), with(number_of(data, "series"), amount, "", " series")}, screen);
}

std::string troubles(const std::vector<Finding>& found, const std::string& host, const Screen& screen) {
  if (found.empty()) return toned(host + ": all is well", Tone::good, screen) + "\n";
  const bool errors = found.front().error;
  const std::string count = found.size() == 1 ? "1 thing is wrong" : std::to_string(found.size()) + " things are wrong";
  std::string out = toned(host + ": " + count, errors ? Tone::bad : Tone::warning, screen) + "\n";
  Table table({{"SEVERITY"}, {"WHERE"}, {"WHAT", 0, false, 20}});
  for (std::size_t i = 0; i < std::min(found.size(), kMostFindings); ++i) {
    const Tone tone = found[i].error ? Tone::bad : Tone::warning;
    table.add({{.text = found[i].error ? "error" : "warning", .tone = tone}, {.text = found[i].where.empty() ? "host" : found[i].where}, {.text = found[i].what, .tone = tone}});
  }
  for (const std::string& text : table.lines(screen, {.head = false})) out += "  " + text + "\n";
  if (found.size() > kMostFindings) out += "  and " + std::to_string(found.size() - kMostFindings) + " more: qpscope status --json, qpscope ports\n";
  return out;
}

// The first few; the worst of them first.
std::string port_lines(const Json& data, const Screen& screen) {
  Table table = port_table(data);
  if (table.size() == 0) return "No ports.\n";
  const auto column = static_cast<std::size_t>(std::ranges::find(table.columns(), std::string_view("RETRANS"), &Column::head) - table.columns().begin());
  if (table.size() > kMostPorts) table.sort(column, false);
  std::string out;
  for (const std::string& text : table.lines(screen, {.count = kMostPorts})) out += text + "\n";
  if (table.size() > kMostPorts) out += "and " + std::to_string(table.size() - kMostPorts) + " more: qpscope ports\n";
  return out;
}

std::string lately(const Json& events, const Screen& screen) {
  if (events.is_null()) return {};
  EventOptions options;
  options.severity = "warning";
  options.since = kLately;
  const Table table = event_table(wanted_events(child(child(events, "data"), "events"), options, number_of(events, "time").value_or(0)));
  if (table.size() == 0) return "No warnings or errors in the last hour.\n";
  const std::size_t shown = std::min(kMostEvents, table.size());
  std::string out = "Of the last hour (" + std::to_string(shown) + " of " + std::to_string(table.size()) + "; qpscope events):\n";
  for (const std::string& text : table.lines(screen, {.first = table.size() - shown, .head = false})) out += text + "\n";
  return out;
}

}  // namespace

std::string status_text(const Json& status, const Json& ports, const Json& events, const Screen& screen) {
  Screen indented = screen;
  if (indented.columns > 2) indented.columns -= 2;
  const std::string recent = lately(events, screen);
  return troubles(findings(status, ports), text_or(child(status, "data"), "host", "this host"), indented) + "\n" + facts(status, screen) + "\n" +
         port_lines(child(ports, "data"), screen) + (recent.empty() ? "" : "\n" + recent);
}

Outcome<Exit> status(Session& session, const StatusOptions& options) {
  const auto status = session.client.get("/api/v1/status", {});
  if (!status) return std::unexpected(status.error());
  const auto ports = session.client.get_list("/api/v1/ports", "ports", {});
  if (!ports) return std::unexpected(ports.error());
  const Exit exit = options.check && !findings(*status, *ports).empty() ? kWrong : kDone;
  if (options.json) return finish(json_text(*status), exit);
  const auto events = session.client.get("/api/v1/events", {});
  return finish(status_text(*status, *ports, events.value_or(Json()), session.screen), exit);
}

}  // namespace qpscope::cli
