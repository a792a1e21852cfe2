// SPDX-License-Identifier: Apache-2.0
#include "exporters/series_limit.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>

#include "core/rdma.h"

namespace qpscope {
namespace {

constexpr MetricDef kDropped{"qpscope_series_dropped_total", MetricType::counter,
                             "Series left out of this page to stay within exporters.prometheus.series_limit, once for each page, since the daemon started.",
                             LabelNames{"family"}};
constexpr std::array<const MetricDef*, 1> kMetrics{&kDropped};

// All of these are told again by a canonical family, as far as they have a meaning that is the same on every NIC.
constexpr std::array<std::string_view, 5> kRaw{"qpscope_hw_value", "qpscope_port_counters_saturated", "qpscope_port_counters_total", "qpscope_device_hw_counters_total",
                                               "qpscope_hw_counters_total"};
constexpr std::string_view kDeviceInfo = "qpscope_device_info";

bool is_raw(const MetricDef& def) { return std::ranges::find(kRaw, def.name) != kRaw.end(); }

std::size_t series_of(const Sample& one) {
  const auto* histogram = std::get_if<HistogramValue>(&one.value);
  return histogram ? histogram->counts.size() + 2 : 1;
}
std::size_t series_of(std::span<const SharedSamples> lists) {
  std::size_t out = 0;
  for (const SharedSamples& list : lists) {
    for (const Sample& one : *list) out += series_of(one);
  }
  return out;
}

std::string_view label(const Sample& one, std::string_view name) {
  const auto names = one.def->labels.list();
  const auto at = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  return at < one.labels.size() ? std::string_view(one.labels[at]) : std::string_view();
}

// The kernel's own GSI and SMI queue pairs are on every port.
std::set<std::string_view> idle_functions(const Snapshot& snapshot) {
  std::set<std::string_view> out;
  for (const SharedSamples& list : snapshot.samples) {
    for (const Sample& one : *list) {
      if (one.def->name == kDeviceInfo && label(one, "function") == "vf") out.insert(label(one, "device"));
    }
  }
  if (out.empty() || !snapshot.queue_pairs || !snapshot.devices) return out;
  for (const QpRecord& qp : *snapshot.queue_pairs) {
    const auto name = snapshot.devices->find(qp.key.device);
    if (!is_special(qp.type) && name != snapshot.devices->end()) out.erase(name->second);
  }
  return out;
}

}  // namespace

std::span<const std::string_view> raw_families() { return kRaw; }
MetricList series_limit_metrics() { return kMetrics; }

std::vector<SharedSamples> SeriesLimit::fit(const Snapshot& snapshot) {
  std::vector<SharedSamples> lists = snapshot.samples;
  room_ = std::numeric_limits<std::size_t>::max();
  if (limit_ == 0) return lists;
  // What the page says of itself: the number of its series, and what was left out of it.
  const std::size_t limit = limit_ - std::min(limit_, kRaw.size() + 4);
  std::size_t series = series_of(lists);

  const auto leave_out = [&](const auto& which) {
    for (SharedSamples& list : lists) {
      if (std::ranges::none_of(*list, which)) continue;
      auto kept = std::make_shared<SampleList>();
      for (const Sample& one : *list) {
        if (!which(one)) {
          kept->push_back(one);
          continue;
        }
        series -= series_of(one);
        dropped(one.def->name, series_of(one));
      }
      list = std::move(kept);
    }
  };
  if (series > limit) {
    const auto idle = idle_functions(snapshot);
    leave_out([&](const Sample& one) { return is_raw(*one.def) && idle.contains(label(one, "device")); });
  }
  for (const std::string_view family : kRaw) {
    if (series > limit) leave_out([&](const Sample& one) { return one.def->name == family; });
  }
  room_ = limit - std::min(limit, series);
  return lists;
}

void SeriesLimit::dropped(std::string_view family, std::size_t series) {
  if (series > 0) dropped_[family] += series;
}

SampleList SeriesLimit::samples() const {
  SampleList out;
  for (const auto& [family, count] : dropped_) out.push_back(sample(kDropped, {std::string(family)}, static_cast<double>(count)));
  return out;
}

}  // namespace qpscope
