// SPDX-License-Identifier: Apache-2.0
// What each path answers. Thread-safe: the HTTP server's threads call it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "core/snapshot.h"
#include "exporters/http.h"
#include "exporters/qp_series.h"
#include "exporters/series_limit.h"

namespace qpscope {

struct PagesOptions {
  std::size_t qp_limit = 100;                    // queue pairs with series of their own on /metrics
  std::size_t series_limit = 5000;               // on /metrics; 0: none
  std::function<double()> wall_minus_boot;       // for time stamps
  std::function<bool()> ready;                   // first samples taken, probes decided
};

class Pages {
 public:
  Pages(const SnapshotSource& source, PagesOptions options);

  //   /metrics       everybody; rendered once per snapshot
  //   /metrics/qps   every queue pair, with pid and comm: allowed peers only
  //   /healthz       200 while the process answers
  //   /readyz        200 once the first snapshot is there and probes are decided, else 503
  HttpResponse answer(const HttpRequest& request);

  // The text of /metrics for this snapshot; also what --once prints.
  std::string metrics(const Snapshot& snapshot);

 private:
  HttpResponse metrics_page();
  HttpResponse queue_pairs_page() const;

  const SnapshotSource& source_;
  const PagesOptions options_;
  std::mutex mutex_;  // guards what follows
  std::uint64_t rendered_sequence_ = 0;
  std::shared_ptr<const std::string> rendered_;
  QpSlots slots_;
  SeriesLimit limit_;
};

MetricList page_metrics();

}  // namespace qpscope
