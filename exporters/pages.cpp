// SPDX-License-Identifier: Apache-2.0
#include "exporters/pages.h"

#include <array>

#include "exporters/prometheus.h"

namespace qpscope {
namespace {

constexpr MetricDef kSeries{"qpscope_series", MetricType::gauge, "Series on this page, this one included.", {}};
constexpr std::array<const MetricDef*, 1> kMetrics{&kSeries};

constexpr const char* kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";
constexpr const char* kIndex =
    "qpscope\n\n"
    "/metrics       ports, queue pair totals, tenants, qpscope itself\n"
    "/metrics/qps   every queue pair, with process; for peers in api.allow\n"
    "/healthz       alive\n"
    "/readyz        first samples taken, probes decided\n";

HttpResponse plain(unsigned status, std::string text) {
  return {.status = status, .body = std::make_shared<const std::string>(std::move(text))};
}

}  // namespace

MetricList page_metrics() { return kMetrics; }

Pages::Pages(const SnapshotSource& source, PagesOptions options) : source_(source), options_(std::move(options)), slots_(options_.qp_limit), limit_(options_.series_limit) {}

HttpResponse Pages::answer(const HttpRequest& request) {
  if (request.path == "/metrics") return metrics_page();
  if (request.path == "/healthz") return plain(200, "ok\n");
  if (request.path == "/readyz") return options_.ready() ? plain(200, "ready\n") : plain(503, "starting\n");
  if (request.path == "/metrics/qps") {
    return request.local ? queue_pairs_page() : plain(403, "this page names processes; add your address to api.allow in the configuration\n");
  }
  if (request.path == "/") return plain(200, kIndex);
  return plain(404, "no such page\n\n" + std::string(kIndex));
}

std::string Pages::metrics(const Snapshot& snapshot) {
  std::vector<SharedSamples> lists = limit_.fit(snapshot);
  if (options_.qp_limit > 0 && snapshot.queue_pairs) {
    const auto chosen = slots_.choose(*snapshot.queue_pairs, snapshot.at, {}, limit_.room() / kQpFamilies);
    for (std::size_t n = 0; n < kQpFamilies; ++n) {
      const auto family = static_cast<QpFamily>(n);
      lists.push_back(qp_family(family, snapshot, &chosen, QpDetail::plain, options_.wall_minus_boot()));
      limit_.dropped(name_of(family), slots_.held() - chosen.size());
    }
  }
  lists.push_back(std::make_shared<const SampleList>(limit_.samples()));
  Page page = render(lists);
  const std::array<SharedSamples, 1> self{std::make_shared<const SampleList>(SampleList{sample(kSeries, {}, static_cast<double>(page.series + 1))})};
  page.text += render(self).text;
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
  auto snapshot = source_.latest();
  if (!snapshot) return plain(503, "starting\n");
  auto page = std::make_shared<QpPage>(std::move(snapshot), options_.wall_minus_boot());
  return {.content_type = kPrometheusType, .pieces = [page] { return page->next(); }};
}

}  // namespace qpscope
