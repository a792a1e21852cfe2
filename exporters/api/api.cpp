// SPDX-License-Identifier: Apache-2.0
#include "exporters/api/api.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/text.h"
#include "exporters/api/qp_json.h"
#include "exporters/api/qp_query.h"

namespace qpscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;
constexpr std::size_t kPieceBytes = 64U << 10;
constexpr const char* kJsonType = "application/json";

const char* code_of(unsigned status) {
  switch (status) {
    case 400: return "invalid";
    case 403: return "forbidden";
    case 404: return "not_found";
    case 405: return "method_not_allowed";
    case 413: return "too_large";
    case 429: return "limit";
    case 501: return "unsupported";
    case 503: return "not_ready";
    default: return "failed";
  }
}

unsigned status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
    case ErrorCode::parse: return 400;
    case ErrorCode::not_found: return 404;
    case ErrorCode::permission: return 403;
    case ErrorCode::unsupported: return 501;
    case ErrorCode::limit: return 429;
    case ErrorCode::io: break;
  }
  return 500;
}

double milliseconds(double seconds) { return std::round(seconds * 1e3) / 1e3; }

HttpResponse json(std::string text) { return {.content_type = kJsonType, .body = std::make_shared<const std::string>(std::move(text))}; }

// The page while it is sent: it holds the snapshot, and text of kPieceBytes and one queue pair.
struct QpPage {
  std::shared_ptr<const Snapshot> snapshot;
  QpFilter filter;
  std::size_t limit;
  double wall_minus_boot;
  std::string piece;  // what comes before the next queue pair
  std::size_t at;     // in the snapshot's queue pairs
  std::size_t sent = 0;
  QpKey last{};
  bool ended = false;

  std::string next() {
    const auto& all = *snapshot->queue_pairs;
    while (!ended && piece.size() < kPieceBytes) {
      while (at < all.size() && !filter(all[at])) ++at;
      if (at < all.size() && sent < limit) {
        if (sent++ > 0) piece += ',';
        piece += qp_json(*snapshot, all[at], wall_minus_boot);
        last = all[at++].key;
        continue;
      }
      piece += at < all.size() ? "],\"next\":\"" + cursor_text(last) + "\"}}\n" : "]}}\n";
      ended = true;
    }
    return std::exchange(piece, {});
  }
};

Result<FocusRequest> parse_focus(std::string_view body) {
  const auto parsed = nlohmann::json::parse(body, nullptr, false);
  if (!parsed.is_object()) return fail(ErrorCode::invalid, "the body is no JSON object; write {\"device\": \"mlx5_0\", \"qpn\": 123, \"seconds\": 60}");
  FocusRequest out;
  const auto number = [](const nlohmann::json& value, std::uint64_t least, std::uint64_t most) {
    return value.is_number_unsigned() && value.get<std::uint64_t>() >= least && value.get<std::uint64_t>() <= most;
  };
  for (const auto& [key, value] : parsed.items()) {
    if (key == "device") {
      if (!value.is_string() || value.get_ref<const std::string&>().empty()) return fail(ErrorCode::invalid, "device is no name");
      out.device = value.get<std::string>();
    } else if (key == "qpn") {
      if (!number(value, 0, 0xffffff)) return fail(ErrorCode::invalid, "qpn is no number of 24 bits");
      out.qpn.value = value.get<std::uint32_t>();
    } else if (key == "seconds") {
      if (!number(value, 1, FocusRequest::kMostSeconds)) return fail(ErrorCode::invalid, "seconds is no number from 1 to " + std::to_string(FocusRequest::kMostSeconds));
      out.seconds = value.get<std::uint32_t>();
    } else {
      return fail(ErrorCode::invalid, "unknown key \"" + safe_text(key) + "\"");
    }
  }
  for (const char* key : {"device", "qpn"}) {
    if (!parsed.contains(key)) return fail(ErrorCode::invalid, std::string(key) + " is missing");
  }
  return out;
}

}  // namespace

HttpResponse api_error(unsigned status, std::string_view message) {
  HttpResponse out = json(Json{{"error", {{"code", code_of(status)}, {"message", safe_message(message)}}}}.dump() + "\n");
  out.status = status;
  return out;
}

// Up to the value of "data".
std::string Api::envelope(const Snapshot& snapshot) const {
  const double time = static_cast<double>(snapshot.at.value) / 1e9 + options_.wall_minus_boot();
  std::string out = Json{{"schema", kSchema}, {"time", milliseconds(time)}, {"age_seconds", milliseconds(std::max(0.0, seconds(options_.now(), snapshot.at)))}}.dump();
  out.back() = ',';
  return out + "\"data\":";
}

HttpResponse Api::queue_pairs(const HttpRequest& request) const {
  auto query = parse_qp_query(request.query);
  if (!query) return api_error(status_of(query.error().code), query.error().what);
  auto snapshot = source_.latest();
  if (!snapshot) return api_error(503, "starting");
  const auto& all = *snapshot->queue_pairs;
  const auto first = query->after ? std::ranges::upper_bound(all, *query->after, {}, &QpRecord::key) : all.begin();
  const std::size_t limit = query->limit;
  auto page = std::make_shared<QpPage>(QpPage{.snapshot = snapshot, .filter = QpFilter(std::move(*query), *snapshot), .limit = limit,
                                              .wall_minus_boot = options_.wall_minus_boot(), .piece = envelope(*snapshot) + "{\"qps\":[",
                                              .at = static_cast<std::size_t>(first - all.begin())});
  return {.content_type = kJsonType, .pieces = [page] { return page->next(); }};
}

HttpResponse Api::focus(const HttpRequest& request) const {
  const auto wanted = parse_focus(request.body);
  if (!wanted) return api_error(status_of(wanted.error().code), wanted.error().what);
  if (!options_.actions.focus) return api_error(501, "this daemon cannot focus on single queue pairs");
  const auto snapshot = source_.latest();
  if (!snapshot) return api_error(503, "starting");
  const auto done = options_.actions.focus(*wanted);
  if (!done) return api_error(status_of(done.error().code), done.error().what);
  return json(envelope(*snapshot) + Json{{"message", safe_message(*done)}}.dump() + "}\n");
}

}  // namespace qpscope
