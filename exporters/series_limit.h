// SPDX-License-Identifier: Apache-2.0
// How many series /metrics may have (exporters.prometheus.series_limit). Where there would be more, the least useful are left out, a whole
// kind at a time, so that what is there is complete:
//
//   1. series of single queue pairs: they get what room is left
//   2. raw counters of virtual functions that nobody has queue pairs on
//   3. raw counters, one family after the other
//
// Nothing else is ever left out, least of all the port families that alerts use: the rest may be more than the limit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "core/metric.h"
#include "core/snapshot.h"

namespace qpscope {

// Which samples of a snapshot are left out. Points to static storage and into the snapshot.
class LeftOut {
 public:
  bool contains(const Sample& one) const {
    return std::ranges::find(families, one.def) != families.end() || (std::ranges::find(of_idle, one.def) != of_idle.end() && idle.contains(one.labels[0]));
  }

  std::vector<const MetricDef*> families, of_idle;  // all of these; of these what the idle functions have
  std::set<std::string_view> idle;                  // devices
};

// Not thread-safe.
class SeriesLimit {
 public:
  explicit SeriesLimit(std::size_t limit) : limit_(limit) {}  // 0: none

  // Decides what of the snapshot there is no room for.
  LeftOut fit(const Snapshot& snapshot);
  // How many series more there is room for after fit().
  std::size_t room() const { return room_; }
  // `series` of the family were left out of the page that is being made.
  void dropped(std::string_view family, std::size_t series);
  // What was left out so far, on all pages, by family; for the page itself.
  SampleList samples() const;

 private:
  const std::size_t limit_;
  std::size_t room_ = 0;
  std::map<std::string_view, std::uint64_t> dropped_;  // by names of MetricDefs, which are static
};

// The raw families, in the order in which they are left out. The first label of each is the device.
std::span<const std::string_view> raw_families();
MetricList series_limit_metrics();

}  // namespace qpscope
