// SPDX-License-Identifier: Apache-2.0
// What each path answers, and to whom: one table. Thread-safe: the HTTP server's threads call it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "core/snapshot.h"
#include "exporters/api/api.h"
#include "exporters/http.h"
#include "exporters/qp_series.h"
#include "exporters/series_limit.h"

namespace qpscope {

struct PagesOptions {
  std::size_t qp_limit = 100;                    // queue pairs with series of their own on /metrics
  std::size_t series_limit = 5000;               // on /metrics; 0: none
  std::function<bool()> ready;                   // first samples taken, probes decided
  ApiOptions api;                                // its time stamps are those of the pages too
};

class Pages {
 public:
  // Pages that come by the piece, each of which keeps its snapshot until its reader has all of it, however slow that is. Not counted: those on
  // the unix socket.
  static constexpr long kMostAtOnce = 8;

  Pages(const SnapshotSource& source, PagesOptions options);

  // By the table of routes in pages.cpp: 404 for a path that is none, 405 for a method that its path does not have, 403 for who may not, 413 for
  // a body that is too long, 503 before the first snapshot and while kMostAtOnce long pages are being sent. /api/… says so in JSON.
  HttpResponse answer(const HttpRequest& request);

  // The text of /metrics for this snapshot; also what --once prints.
  std::string metrics(const Snapshot& snapshot);

 private:
  HttpResponse bounded(HttpResponse response, const HttpRequest& request) const;
  HttpResponse metrics_page();
  HttpResponse queue_pairs_page() const;

  const SnapshotSource& source_;
  const PagesOptions options_;
  const Api api_;
  const std::shared_ptr<const int> being_sent_ = std::make_shared<const int>();  // its owners beside us are the pages
  std::atomic<std::size_t> series_ = 0;  // on /metrics when it was rendered last
  std::mutex mutex_;  // guards what follows
  std::uint64_t rendered_sequence_ = 0;
  std::shared_ptr<const std::string> rendered_;
  QpSlots slots_;
  SeriesLimit limit_;
};

MetricList page_metrics();

}  // namespace qpscope
