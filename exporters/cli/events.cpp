// SPDX-License-Identifier: Apache-2.0
#include "events.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include "units.h"

namespace qpscope::cli {
namespace {

constexpr const char* kPath = "/api/v1/events";
constexpr std::size_t kRemembered = 10000;  // above what the daemon keeps
constexpr std::chrono::seconds kPause{1};   // between two looks

std::size_t rank(const std::string& severity) { return severity == "error" ? 2 : severity == "warning" ? 1 : 0; }

bool one_of(const std::vector<std::string>& wanted, const Json& event, const char* key) {
  return wanted.empty() || std::ranges::find(wanted, text_or(event, key, "")) != wanted.end();
}

Outcome<Json> ask(Client& client, const EventOptions& options, const std::string& after) {
  auto parameters = options.filters;
  if (!after.empty()) parameters.emplace_back("after", after);
  parameters.emplace_back("limit", std::to_string(kRemembered));
  return client.get_list(kPath, "events", parameters);
}

void keep_newest(Json& events, std::size_t limit) {
  if (limit && events.size() > limit) events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(limit));
}

// Events above the daemon's limits, which nobody will see.
double dropped_of(const Json& data) { return number_of(data, "dropped").value_or(0); }

// With --follow: tables without a head, or an event a line as JSON.
bool print_more(const Session& session, const EventOptions& options, const Json& events, bool head) {
  std::string out;
  if (options.json) {
    for (const Json& event : events) out += json_text(event, -1);
  } else if (events.size() > 0 || head) {
    for (const std::string& line : event_table(events).lines(session.screen, {.head = head})) out += line + "\n";
  }
  return print(out);
}

}  // namespace

Json wanted_events(const Json& events, const EventOptions& options, double now) {
  Json out = Json::array();
  for (const Json& event : events) {
    if (options.since > 0 && number_of(event, "timestamp_seconds").value_or(now) < now - options.since) continue;
    if (rank(text_or(event, "severity", "")) < rank(options.severity)) continue;
    if (one_of(options.tenants, event, "tenant") && one_of(options.workloads, event, "workload")) out.push_back(event);
  }
  return out;
}

Table event_table(const Json& events) {
  Table table({{"TIME"}, {"SEVERITY", 1}, {"KIND", 3}, {"DEVICE", 2}, {"PORT", 4}, {"QPN", 5}, {"TENANT", 6, false, 8}, {"WORKLOAD", 7, false, 8}, {"PID", 9},
               {"COMM", 8, false, 8}, {"MESSAGE", 0, false, 44}});
  for (const Json& event : events) {
    const Tone tone = std::array{Tone::plain, Tone::warning, Tone::bad}[rank(text_or(event, "severity", ""))];
    const auto time = number_of(event, "timestamp_seconds");
    table.add({value_cell(time, clock_time), text_cell(event, "severity", tone), text_cell(event, "kind"), text_cell(event, "device"),
               number_cell(event, "port"), number_cell(event, "qpn"), text_cell(event, "tenant"), text_cell(event, "workload"), number_cell(event, "pid"), text_cell(event, "comm"), text_cell(event, "message", tone)});
  }
  return table;
}

Outcome<Exit> events(Session& session, const EventOptions& options) {
  auto answer = ask(session.client, options, "");
  if (!answer) return std::unexpected(answer.error());
  Json& data = answer->at("data");
  double dropped = dropped_of(data);
  Json wanted = wanted_events(data["events"], options, number_of(*answer, "time").value_or(0));
  keep_newest(wanted, options.limit);
  if (!options.follow) {
    const Table table = event_table(wanted);
    data["events"] = std::move(wanted);
    const bool all = options.filters.empty() && options.tenants.empty() && options.workloads.empty() && options.severity.empty() && options.since <= 0;
    if (!options.json && table.size() == 0) return finish(all ? "No events.\n" : "No events that all filters let through.\n");
    if (options.json) return finish(json_text(*answer));
    return finish(table.text(session.screen) + (dropped > 0 ? amount(dropped) + " more, too many at once, were not kept.\n" : ""));
  }
  if (!print_more(session, options, wanted, true)) return kRefused;
  std::string after = text_or(data, "next", "");
  for (bool away = false;;) {
    std::this_thread::sleep_for(kPause);
    answer = ask(session.client, options, after);
    // It is being restarted, and its events go on where they were.
    if (!answer && answer.error().exit == kNoDaemon) {
      if (!std::exchange(away, true)) std::fputs("qpscope: the daemon is away; waiting for it\n", stderr);
      continue;
    }
    if (!answer) return std::unexpected(answer.error());
    away = false;
    after = text_or(answer->at("data"), "next", "");
    // Fewer than before: it was restarted, and counts from 0.
    const double before = std::exchange(dropped, dropped_of(answer->at("data")));
    if (dropped > before) std::fprintf(stderr, "qpscope: %s events, too many at once, were not kept\n", amount(dropped - before).c_str());
    EventOptions later = options;
    later.since = 0;
    if (!print_more(session, options, wanted_events(answer->at("data")["events"], later, 0), false)) return kRefused;
  }
}

}  // namespace qpscope::cli
