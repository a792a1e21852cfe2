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

std::size_t series_of(const Sample& one) {
  const auto* histogram = std::get_if<HistogramValue>(&one.value);
  return histogram ? histogram->counts.size() + 2 : 1;
}
struct Series {
  std::size_t all = 0, of_idle = 0;
};

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

// By family, and the same name may be of several.
std::map<const MetricDef*, Series> raw_series(const Snapshot& snapshot, const std::set<std::string_view>& idle) {
  std::map<const MetricDef*, Series> out;
  const MetricDef* last = nullptr;  // of many in a row
  Series* series = nullptr;         // null: not raw
  for (const SharedSamples& list : snapshot.samples) {
    for (const Sample& one : *list) {
      if (one.def != last) {
        last = one.def;
        series = std::ranges::find(kRaw, last->name) == kRaw.end() ? nullptr : &out[last];
      }
      if (!series) continue;
      const std::size_t count = series_of(one);
      series->all += count;
      if (idle.contains(one.labels[0])) series->of_idle += count;
    }
  }
  return out;
}

}  // namespace

std::span<const std::string_view> raw_families() { return kRaw; }
MetricList series_limit_metrics() { return kMetrics; }

LeftOut SeriesLimit::fit(const Snapshot& snapshot) {
  LeftOut out;
  room_ = std::numeric_limits<std::size_t>::max();
  if (limit_ == 0) return out;
  // What the page says of itself: the number of its series, and what was left out of it.
  const std::size_t limit = limit_ - std::min(limit_, kRaw.size() + 4);
  std::size_t series = 0;
  for (const SharedSamples& list : snapshot.samples) {
    for (const Sample& one : *list) series += series_of(one);
  }
  if (series > limit) {
    out.idle = idle_functions(snapshot);
    const auto raw = raw_series(snapshot, out.idle);
    const auto leave_out = [&](const MetricDef& def, std::size_t count, std::vector<const MetricDef*>& which) {
      if (count == 0) return;
      series -= count;
      dropped(def.name, count);
      which.push_back(&def);
    };
    for (const auto& [def, count] : raw) leave_out(*def, count.of_idle, out.of_idle);
    for (const std::string_view family : kRaw) {
      if (series <= limit) break;
      for (const auto& [def, count] : raw) {
        if (def->name == family) leave_out(*def, count.all - count.of_idle, out.families);
      }
    }
  }
  room_ = limit - std::min(limit, series);
  return out;
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
