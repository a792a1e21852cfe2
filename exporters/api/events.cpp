// SPDX-License-Identifier: Apache-2.0
#include "exporters/api/events.h"

#include <memory>
#include <utility>
#include <vector>

#include "core/text.h"
#include "exporters/api/event_json.h"
#include "exporters/api/json.h"
#include "exporters/query.h"

namespace qpscope {

Result<EventQuery> parse_event_query(std::string_view text) {
  const auto parameters = parse_query(text);
  if (!parameters) return std::unexpected(parameters.error());
  EventQuery out;
  std::set<std::string_view> single;
  for (const Parameter& one : *parameters) {
    if ((one.name == "after" || one.name == "limit") && !single.insert(one.name).second) return given_twice(one);
    if (one.name == "after") {
      out.after = whole_number<std::uint64_t>(one.value);
      if (!out.after) return not_a(one, "what an answer before gave as data.next");
    } else if (one.name == "limit") {
      out.limit = whole_number<std::size_t>(one.value).value_or(0);
      if (out.limit < 1 || out.limit > EventQuery::kMostLimit) return not_a(one, "a number from 1 to 10000");
    } else if (one.name == "kind") {
      const auto kind = history_kind(one.value);
      if (!kind) return not_a(one, "a kind such as queue_pair_error or port_state");
      out.kinds.insert(*kind);
    } else if (one.name == "device") {
      if (one.value.empty()) return not_a(one, "a name");
      out.devices.insert(one.value);
    } else {
      return unknown_parameter(one);
    }
  }
  return out;
}

HttpResponse events_response(const EventHistory& history, std::string head, const EventQuery& query, double wall_minus_boot) {
  EventHistory::Selection found = history.since(query.after);
  std::vector<SharedEvent>& events = found.events;
  std::erase_if(events, [&](const SharedEvent& one) {
    return (!query.kinds.empty() && !query.kinds.contains(one->kind)) || (!query.devices.empty() && !query.devices.contains(safe_text(one->device)));
  });
  std::uint64_t next = found.newest;
  if (events.size() > query.limit) {
    if (query.after) {
      events.resize(query.limit);
      next = events.back()->id;
    } else {
      events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(query.limit));
    }
  }
  return json_response({.head = std::move(head) + "{\"events\":[",
                        .item = [events = std::move(events), wall_minus_boot, at = std::size_t{0}]() mutable -> std::optional<std::string> {
                          if (at == events.size()) return std::nullopt;
                          return event_json(*std::exchange(events[at++], nullptr), wall_minus_boot);
                        },
                        .tail = [next, dropped = found.dropped] {
                          return "],\"next\":\"" + std::to_string(next) + "\",\"dropped\":\"" + std::to_string(dropped) + "\"}}\n";
                        }});
}

}  // namespace qpscope
