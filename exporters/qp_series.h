// SPDX-License-Identifier: Apache-2.0
// Per-QP series. A QPN is reused, so every series carries its generation; how many there are on /metrics is bounded, and
// which ones is steady: a job start must not churn series on every node.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/metric.h"
#include "core/snapshot.h"

namespace qpscope {

// Whether counters of the QP alone grew of late. Empty: no QP has counters of its own.
using OwnCountersMoved = std::function<bool(const QpRecord&)>;
// As the snapshot has them, which must outlive it.
OwnCountersMoved own_counters_moved(const Snapshot& snapshot);

// Keeps the same QPs on the page from scrape to scrape. QPs in ERR come first, then those whose own counters moved, then the
// longest-lived while slots are free. A slot is held for 15 minutes at least while its QP lives; then one of the first two kinds may
// take it from a lesser one. Once all are taken at most 20 a minute change hands.
// Not thread-safe.
class QpSlots {
 public:
  explicit QpSlots(std::size_t limit) : limit_(limit) {}
  // Indexes into `all`, rising. `most`: where there is not room for all that have slots, those with the best claims; the others keep theirs.
  std::vector<std::size_t> choose(std::span<const QpRecord> all, BootTime now, const OwnCountersMoved& moved = {}, std::size_t most = ~std::size_t{0});
  std::size_t held() const { return held_.size(); }

 private:
  std::size_t limit_;
  std::map<QpKey, BootTime> held_;  // since when
  std::vector<BootTime> swaps_;     // of the last minute
  bool was_full_ = false;           // from then on every new one counts, also into slots that died away
};

MetricList qp_series_metrics();

enum class QpFamily : std::uint8_t { info, state, state_change, hw_counters, async_events };
inline constexpr std::size_t kQpFamilies = 5;
inline constexpr std::size_t kEveryQpFamilies = 3;  // that every queue pair has
// How many QPs fit into so many series, all families counted.
std::size_t room_for_qps(const Snapshot& snapshot, std::size_t series);
std::string_view name_of(QpFamily family);
enum class QpDetail : bool { plain, with_process };  // with_process: pid and comm too, for /metrics/qps only

// One family of the chosen records (indexes into the snapshot's; null: all). `wall_minus_boot` turns CLOCK_BOOTTIME into
// Unix seconds.
SharedSamples qp_family(QpFamily family, const Snapshot& snapshot, const std::vector<std::size_t>* chosen, QpDetail detail, double wall_minus_boot);

// /metrics/qps by the piece, some hundred QPs each: the page is never in memory as a whole. At most kMost QPs have series on it, those
// that QpSlots would take first. One thread at a time.
class QpPage {
 public:
  static constexpr std::size_t kMost = 20'000;

  QpPage(std::shared_ptr<const Snapshot> snapshot, double wall_minus_boot, const OwnCountersMoved& moved = {});
  std::string next();  // empty: that was all

 private:
  std::shared_ptr<const Snapshot> snapshot_;
  double wall_minus_boot_;
  std::vector<std::size_t> chosen_;  // indexes into the snapshot's queue pairs
  std::size_t omitted_ = 0;
  std::size_t family_ = 0, at_ = 0;
  bool headed_ = false;              // the family's head is written
};

}  // namespace qpscope
