// SPDX-License-Identifier: Apache-2.0
#include "exporters/pages.h"

#include <array>

#include "exporters/page/page.h"
#include "exporters/prometheus.h"

namespace qpscope {
namespace {

constexpr MetricDef kSeries{"qpscope_series", MetricType::gauge, "Series on this page, this one included.", {}};
constexpr std::array<const MetricDef*, 1> kMetrics{&kSeries};

constexpr const char* kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";
constexpr const char* kIndex =
    "qpscope\n\n"
    "/              in a browser: the status page\n"
    "/metrics       ports, queue pair totals, tenants, qpscope itself\n"
    "/metrics/qps   every queue pair, with process; for peers in api.allow\n"
    "/api/v1/qps    the same as JSON, with filters; for peers in api.allow and on /run/qpscope/api.sock\n"
    "               and /api/v1/status, ports, tenants, events, probes\n"
    "/healthz       alive\n"
    "/readyz        first samples taken, probes decided\n";

HttpResponse plain(unsigned status, std::string text) {
  return {.status = status, .body = std::make_shared<const std::string>(std::move(text))};
}

HttpResponse error(const HttpRequest& request, unsigned status, const std::string& message) {
  return request.path.starts_with("/api/") ? api_error(status, message) : plain(status, message + "\n");
}

enum class Access : std::uint8_t {
  everybody,
  allowed,    // peers in api.allow whose Host header names this machine, and the unix socket
  on_socket,  // the unix socket alone
};

// The status page for a browser, the list of pages for everything else. Whoever keeps an answer has to know what it depends on.
HttpResponse front_page(const HttpRequest& request) {
  HttpResponse out = request.accept.contains("text/html") ? status_page() : plain(200, kIndex);
  out.headers.emplace_back("Vary", "Accept");
  return out;
}

// Why the peer may not; null: it may.
const char* refusal(Access access, HttpPeer peer) {
  if (access == Access::everybody || peer == HttpPeer::on_socket) return nullptr;
  if (access == Access::on_socket) return "only on the unix socket /run/qpscope/api.sock";
  if (peer == HttpPeer::stranger) return "this page names processes; add your address to api.allow in the configuration";
  if (peer == HttpPeer::misnamed) return "the Host header is not a name of this machine; use its address, or add the name to api.hosts in the configuration";
  return nullptr;
}

}  // namespace

MetricList page_metrics() { return kMetrics; }

Pages::Pages(const SnapshotSource& source, PagesOptions options)
    : source_(source), options_(std::move(options)), api_(source, options_.api), slots_(options_.qp_limit), limit_(options_.series_limit) {}

HttpResponse Pages::answer(const HttpRequest& request) {
  struct Route {
    std::string_view method, path;
    Access access;
    HttpResponse (*answer)(Pages&, const HttpRequest&);
  };
  static constexpr Route kRoutes[] = {
      {"GET", "/", Access::everybody, [](Pages&, const HttpRequest& r) { return front_page(r); }},
      {"GET", "/metrics", Access::everybody, [](Pages& p, const HttpRequest&) { return p.metrics_page(); }},
      {"GET", "/healthz", Access::everybody, [](Pages&, const HttpRequest&) { return plain(200, "ok\n"); }},
      {"GET", "/readyz", Access::everybody, [](Pages& p, const HttpRequest&) { return p.options_.ready() ? plain(200, "ready\n") : plain(503, "starting\n"); }},
      {"GET", "/metrics/qps", Access::allowed, [](Pages& p, const HttpRequest&) { return p.queue_pairs_page(); }},
      {"GET", "/api/v1/qps", Access::allowed, [](Pages& p, const HttpRequest& r) { return p.api_.queue_pairs(r); }},
      {"GET", "/api/v1/status", Access::allowed, [](Pages& p, const HttpRequest& r) { return p.api_.status(r, {.ready = p.options_.ready(), .series = p.series_}); }},
      {"GET", "/api/v1/ports", Access::allowed, [](Pages& p, const HttpRequest& r) { return p.api_.ports(r); }},
      {"GET", "/api/v1/tenants", Access::allowed, [](Pages& p, const HttpRequest& r) { return p.api_.tenants(r); }},
      {"GET", "/api/v1/events", Access::allowed, [](Pages& p, const HttpRequest& r) { return p.api_.events(r); }},
      {"GET", "/api/v1/probes", Access::allowed, [](Pages& p, const HttpRequest& r) { return p.api_.probes(r); }},
      {"POST", "/api/v1/probes", Access::on_socket, [](Pages& p, const HttpRequest& r) { return p.api_.set_probes(r); }},
      {"POST", "/api/v1/focus", Access::on_socket, [](Pages& p, const HttpRequest& r) { return p.api_.focus(r); }},
      {"POST", "/api/v1/record", Access::on_socket, [](Pages& p, const HttpRequest& r) { return p.api_.record(r); }},
  };
  std::string methods;  // that the path has
  for (const Route& route : kRoutes) {
    if (route.path != request.path) continue;
    if (route.method != request.method) {
      methods += (methods.empty() ? "" : ", ") + std::string(route.method == "GET" ? "GET, HEAD" : route.method);
      continue;
    }
    if (const char* why = refusal(route.access, request.peer)) return error(request, 403, why);
    if (request.oversized) return error(request, 413, "the body is longer than " + std::to_string(kMostBodyBytes) + " bytes");
    return bounded(route.answer(*this, request), request);
  }
  if (methods.empty()) return error(request, 404, "no such page; / has a list");
  HttpResponse out = error(request, 405, "only " + methods);
  out.allow = std::move(methods);
  return out;
}

HttpResponse Pages::bounded(HttpResponse response, const HttpRequest& request) const {
  if (!response.pieces || request.peer == HttpPeer::on_socket) return response;
  auto turn = being_sent_;
  if (turn.use_count() >= kMostAtOnce + 2) return error(request, 503, "too many long pages are being sent; try again");  // the two: being_sent_ and turn
  response.pieces = [turn = std::move(turn), next = std::move(response.pieces)] { return next(); };
  return response;
}

std::string Pages::metrics(const Snapshot& snapshot) {
  const LeftOut left_out = limit_.fit(snapshot);
  std::vector<SharedSamples> lists = snapshot.samples;
  if (options_.qp_limit > 0 && snapshot.queue_pairs) {
    const auto chosen = slots_.choose(*snapshot.queue_pairs, snapshot.at, own_counters_moved(snapshot), room_for_qps(snapshot, limit_.room()));
    for (std::size_t n = 0; n < kQpFamilies; ++n) {
      const auto family = static_cast<QpFamily>(n);
      lists.push_back(qp_family(family, snapshot, &chosen, QpDetail::plain, options_.api.wall_minus_boot()));
      if (n < kEveryQpFamilies) limit_.dropped(name_of(family), slots_.held() - chosen.size());
    }
  }
  lists.push_back(std::make_shared<const SampleList>(limit_.samples()));
  Page page = render(lists, left_out);
  const std::array<SharedSamples, 1> self{std::make_shared<const SampleList>(SampleList{sample(kSeries, {}, static_cast<double>(page.series + 1))})};
  page.text += render(self).text;
  series_ = page.series + 1;
  return std::move(page.text);
}

HttpResponse Pages::metrics_page() {
  const auto snapshot = source_.latest();
  if (!snapshot) return plain(503, "starting\n");
  const std::lock_guard lock(mutex_);
  if (!rendered_ || rendered_sequence_ != snapshot->sequence) {
    rendered_ = std::make_shared<const std::string>(metrics(*snapshot));
    rendered_sequence_ = snapshot->sequence;
  }
  return {.content_type = kPrometheusType, .body = rendered_};
}

HttpResponse Pages::queue_pairs_page() const {
  const auto snapshot = source_.latest();
  if (!snapshot) return plain(503, "starting\n");
  const OwnCountersMoved moved = own_counters_moved(*snapshot);
  auto page = std::make_shared<QpPage>(snapshot, options_.api.wall_minus_boot(), moved);
  return {.content_type = kPrometheusType, .pieces = [page] { return page->next(); }};
}

}  // namespace qpscope
