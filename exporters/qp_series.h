// SPDX-License-Identifier: Apache-2.0
// Per-QP series. A QPN is reused, so every series carries its generation; how many there are on /metrics is bounded, and
// which ones is steady: a job start must not churn series on every node.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "core/metric.h"
#include "core/snapshot.h"

namespace qpscope {

// Keeps the same QPs on the page from scrape to scrape. QPs in ERR come first, then the longest-lived while slots are
// free. A slot is held for 15 minutes at least while its QP lives; once all are taken at most 20 a minute change hands.
// Not thread-safe.
class QpSlots {
 public:
  explicit QpSlots(std::size_t limit) : limit_(limit) {}
  // Indexes into `all`, rising.
  std::vector<std::size_t> choose(std::span<const QpRecord> all, BootTime now);

 private:
  std::size_t limit_;
  std::map<QpKey, BootTime> held_;  // since when
  std::vector<BootTime> swaps_;     // of the last minute
  bool was_full_ = false;           // from then on every new one counts, also into slots that died away
};

MetricList qp_series_metrics();

enum class QpFamily : std::uint8_t { info, state, state_change };
inline constexpr std::size_t kQpFamilies = 3;
enum class QpDetail : bool { plain, with_process };  // with_process: pid and comm too, for /metrics/qps only

// One family of the chosen records (indexes into the snapshot's; null: all). `wall_minus_boot` turns CLOCK_BOOTTIME into
// Unix seconds.
SharedSamples qp_family(QpFamily family, const Snapshot& snapshot, const std::vector<std::size_t>* chosen, QpDetail detail, double wall_minus_boot);

}  // namespace qpscope
