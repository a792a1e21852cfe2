// SPDX-License-Identifier: Apache-2.0
// GET /api/v1/events: what happened of late (core/event_history.h). Pure; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/event_history.h"
#include "exporters/http.h"

namespace qpscope {

// An empty set is no filter.
struct EventQuery {
  static constexpr std::size_t kUsualLimit = 1000, kMostLimit = 10000;
  std::set<HistoryKind> kinds;
  std::set<std::string, std::less<>> devices;  // as they are shown
  std::optional<std::uint64_t> after;          // an event's id, or what `next` was
  std::size_t limit = kUsualLimit;
};
// ErrorCode::invalid, with the parameter's name.
Result<EventQuery> parse_event_query(std::string_view query);

// The oldest first: those after `after`, or the newest. `head`: the envelope up to the value of "data". Rendered while it is sent.
HttpResponse events_response(const EventHistory& history, std::string head, const EventQuery& query, double wall_minus_boot);

}  // namespace qpscope
