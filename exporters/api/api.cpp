// SPDX-License-Identifier: Apache-2.0
#include "exporters/api/api.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/text.h"
#include "exporters/api/events.h"
#include "exporters/api/json.h"
#include "exporters/api/ports.h"
#include "exporters/api/probes.h"
#include "exporters/api/qp_json.h"
#include "exporters/api/qp_query.h"
#include "exporters/api/tenants.h"
#include "exporters/query.h"

namespace qpscope {
namespace {

constexpr int kSchema = 1;
constexpr std::size_t kMostReason = 200;

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

// The queue pairs of a snapshot that a query wants, one after the other.
struct QpPage {
  std::shared_ptr<const Snapshot> snapshot;
  QpFilter filter;
  std::size_t limit;
  double wall_minus_boot;
  std::size_t at;  // in the snapshot's queue pairs
  std::size_t sent = 0;
  QpKey last{};

  std::optional<std::string> next() {
    const auto& all = *snapshot->queue_pairs;
    while (at < all.size() && !filter(all[at])) ++at;
    if (at == all.size() || sent == limit) return std::nullopt;
    ++sent;
    last = all[at].key;
    return qp_json(*snapshot, all[at++], wall_minus_boot);
  }
  std::string end() const { return at < snapshot->queue_pairs->size() ? "],\"next\":\"" + cursor_text(last) + "\"}}\n" : "]}}\n"; }
};

bool is_number(const nlohmann::json& value, std::uint64_t least, std::uint64_t most) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() >= least && value.get<std::uint64_t>() <= most;
}

Result<ProbesRequest> parse_probes(std::string_view body) {
  const auto parsed = nlohmann::json::parse(body, nullptr, false);
  if (!parsed.is_object()) return fail(ErrorCode::invalid, "the body is no JSON object; write {\"attached\": false, \"seconds\": 900}");
  ProbesRequest out;
  for (const auto& [key, value] : parsed.items()) {
    if (key == "attached") {
      if (!value.is_boolean()) return fail(ErrorCode::invalid, "attached is neither true nor false");
      out.attached = value.get<bool>();
    } else if (key == "seconds") {
      if (!is_number(value, 1, ProbesRequest::kMostSeconds)) return fail(ErrorCode::invalid, "seconds is no number from 1 to " + std::to_string(ProbesRequest::kMostSeconds));
      out.seconds = value.get<std::uint32_t>();
    } else {
      return fail(ErrorCode::invalid, "unknown key \"" + safe_text(key) + "\"");
    }
  }
  if (!parsed.contains("attached")) return fail(ErrorCode::invalid, "attached is missing");
  return out;
}

Result<FocusRequest> parse_focus(std::string_view body) {
  const auto parsed = nlohmann::json::parse(body, nullptr, false);
  if (!parsed.is_object()) return fail(ErrorCode::invalid, "the body is no JSON object; write {\"device\": \"mlx5_0\", \"qpn\": 123, \"seconds\": 60}");
  FocusRequest out;
  for (const auto& [key, value] : parsed.items()) {
    if (key == "device") {
      if (!value.is_string() || value.get_ref<const std::string&>().empty()) return fail(ErrorCode::invalid, "device is no name");
      out.device = value.get<std::string>();
    } else if (key == "qpn") {
      if (!is_number(value, 0, 0xffffff)) return fail(ErrorCode::invalid, "qpn is no number of 24 bits");
      out.qpn.value = value.get<std::uint32_t>();
    } else if (key == "seconds") {
      if (!is_number(value, 1, FocusRequest::kMostSeconds)) return fail(ErrorCode::invalid, "seconds is no number from 1 to " + std::to_string(FocusRequest::kMostSeconds));
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

// {"reason": "…"}, or nothing.
Result<std::string> parse_reason(std::string_view body) {
  const auto parsed = body.empty() ? nlohmann::json::object() : nlohmann::json::parse(body, nullptr, false);
  if (!parsed.is_object()) return fail(ErrorCode::invalid, "the body is no JSON object; write {\"reason\": \"...\"}");
  std::string out;
  for (const auto& [key, value] : parsed.items()) {
    if (key != "reason") return fail(ErrorCode::invalid, "unknown key \"" + safe_text(key) + "\"");
    if (!value.is_string()) return fail(ErrorCode::invalid, "reason is no text");
    out = value.get<std::string>();
    if (out.size() > kMostReason) return fail(ErrorCode::invalid, "reason is longer than " + std::to_string(kMostReason) + " bytes");
  }
  return out;
}

HttpResponse refused(const Error& error) { return api_error(status_of(error.code), error.what); }

// ErrorCode::invalid where there are any.
Result<> no_parameters(const HttpRequest& request) {
  const auto parameters = parse_query(request.query);
  if (!parameters) return std::unexpected(parameters.error());
  return parameters->empty() ? Result<>() : unknown_parameter(parameters->front());
}

}  // namespace

HttpResponse api_error(unsigned status, std::string_view message) {
  HttpResponse out = json_response(Json{{"error", {{"code", code_of(status)}, {"message", safe_message(message)}}}}.dump() + "\n");
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
  if (!query) return refused(query.error());
  auto snapshot = source_.latest();
  if (!snapshot) return api_error(503, "starting");
  const auto& all = *snapshot->queue_pairs;
  const auto first = query->after ? std::ranges::upper_bound(all, *query->after, {}, &QpRecord::key) : all.begin();
  const std::size_t limit = query->limit;
  auto page = std::make_shared<QpPage>(QpPage{.snapshot = snapshot, .filter = QpFilter(std::move(*query), *snapshot), .limit = limit,
                                              .wall_minus_boot = options_.wall_minus_boot(), .at = static_cast<std::size_t>(first - all.begin())});
  return json_response({.head = envelope(*snapshot) + "{\"qps\":[", .item = [page] { return page->next(); }, .tail = [page] { return page->end(); }});
}

HttpResponse Api::status(const HttpRequest& request, PagesNow pages) const {
  if (const auto none = no_parameters(request); !none) return refused(none.error());
  const auto snapshot = source_.latest();
  if (!snapshot || !snapshot->status) return api_error(503, "starting");
  return json_response(envelope(*snapshot) + status_json(*snapshot, pages) + "}\n");
}

HttpResponse Api::ports(const HttpRequest& request) const {
  auto query = parse_port_query(request.query);
  if (!query) return refused(query.error());
  auto snapshot = source_.latest();
  if (!snapshot) return api_error(503, "starting");
  std::string head = envelope(*snapshot);
  return ports_response(std::move(snapshot), std::move(head), std::move(*query));
}

HttpResponse Api::tenants(const HttpRequest& request) const {
  if (const auto none = no_parameters(request); !none) return refused(none.error());
  auto snapshot = source_.latest();
  if (!snapshot) return api_error(503, "starting");
  std::string head = envelope(*snapshot);
  return tenants_response(std::move(snapshot), std::move(head));
}

HttpResponse Api::events(const HttpRequest& request) const {
  const auto query = parse_event_query(request.query);
  if (!query) return refused(query.error());
  const auto snapshot = source_.latest();
  if (!snapshot || !snapshot->events) return api_error(503, "starting");
  return events_response(*snapshot->events, envelope(*snapshot), *query, options_.wall_minus_boot());
}

HttpResponse Api::probes(const HttpRequest& request) const {
  if (const auto none = no_parameters(request); !none) return refused(none.error());
  const auto snapshot = source_.latest();
  if (!snapshot || !snapshot->status) return api_error(503, "starting");
  return json_response(envelope(*snapshot) + probes_json(*snapshot->status) + "}\n");
}

HttpResponse Api::set_probes(const HttpRequest& request) const {
  return act(parse_probes(request.body), options_.actions.probes, "this daemon cannot take its probes off");
}

HttpResponse Api::focus(const HttpRequest& request) const {
  return act(parse_focus(request.body), options_.actions.focus, "this daemon cannot focus on single queue pairs");
}

template <class Request>
HttpResponse Api::act(const Result<Request>& wanted, const std::function<Result<std::string>(const Request&)>& action, const char* unable) const {
  if (!wanted) return refused(wanted.error());
  if (!action) return api_error(501, unable);
  const auto snapshot = source_.latest();
  if (!snapshot) return api_error(503, "starting");
  const auto done = action(*wanted);
  if (!done) return refused(done.error());
  return json_response(envelope(*snapshot) + Json{{"message", safe_message(*done)}}.dump() + "}\n");
}

HttpResponse Api::record(const HttpRequest& request) const {
  const auto reason = parse_reason(request.body);
  if (!reason) return refused(reason.error());
  if (!options_.actions.record) return api_error(501, "this daemon has no flight recorder");
  const auto snapshot = source_.latest();
  if (!snapshot) return api_error(503, "starting");
  const auto id = options_.actions.record(*reason);
  if (!id) return refused(id.error());
  return json_response(envelope(*snapshot) + Json{{"incident", safe_text(*id)}}.dump() + "}\n");
}

}  // namespace qpscope
