// SPDX-License-Identifier: Apache-2.0
#include "exporters/prometheus.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>
#include <vector>

#include "core/text.h"

namespace qpscope {
namespace {

struct Series {
  std::vector<std::string> labels;  // safe
  const Sample* sample;
};

// A histogram is a series for each bucket, one for the sum and one for the count.
std::size_t lines(const Sample& sample) {
  const auto* histogram = std::get_if<HistogramValue>(&sample.value);
  return histogram ? histogram->counts.size() + 2 : 1;
}

prometheus::MetricType type_of(MetricType type) {
  switch (type) {
    case MetricType::counter: return prometheus::MetricType::Counter;
    case MetricType::gauge: return prometheus::MetricType::Gauge;
    case MetricType::histogram: return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

prometheus::ClientMetric::Histogram convert(const HistogramValue& value) {
  prometheus::ClientMetric::Histogram out;
  out.sample_sum = value.sum;
  for (std::size_t i = 0; i < value.counts.size(); ++i) {
    out.sample_count += value.counts[i];
    const double bound = i < value.bounds.size() ? value.bounds[i] : std::numeric_limits<double>::infinity();
    out.bucket.push_back({.cumulative_count = out.sample_count, .upper_bound = bound});
  }
  return out;
}

prometheus::ClientMetric convert(const Series& series) {
  const MetricDef& def = *series.sample->def;
  prometheus::ClientMetric metric;
  metric.label.reserve(series.labels.size());
  for (std::size_t i = 0; i < series.labels.size(); ++i) {
    metric.label.push_back({.name = std::string(def.labels.names[i]), .value = series.labels[i]});
  }
  if (const auto* histogram = std::get_if<HistogramValue>(&series.sample->value)) {
    metric.histogram = convert(*histogram);
  } else if (def.type == MetricType::counter) {
    metric.counter.value = std::get<double>(series.sample->value);
  } else {
    metric.gauge.value = std::get<double>(series.sample->value);
  }
  return metric;
}

}  // namespace

Page render(std::span<const SharedSamples> lists) {
  std::map<std::string_view, std::pair<const MetricDef*, std::vector<Series>>> families;
  for (const auto& list : lists) {
    if (!list) continue;
    for (const Sample& one : *list) {
      auto& [def, series] = families[one.def->name];
      def = one.def;
      Series& added = series.emplace_back(Series{{}, &one});
      added.labels.reserve(one.labels.size());
      for (const std::string& label : one.labels) added.labels.push_back(safe_text(label));
    }
  }
  Page page;
  std::ostringstream out;
  const prometheus::TextSerializer serializer;
  for (auto& [name, family] : families) {
    auto& [def, series] = family;
    std::ranges::stable_sort(series, {}, &Series::labels);
    const auto [first, last] = std::ranges::unique(series, {}, &Series::labels);
    series.erase(first, last);
    prometheus::MetricFamily converted{.name = std::string(def->name), .help = std::string(def->help), .type = type_of(def->type), .metric = {}};
    converted.metric.reserve(series.size());
    for (const Series& one : series) {
      converted.metric.push_back(convert(one));
      page.series += lines(*one.sample);
    }
    serializer.Serialize(out, {converted});
  }
  page.text = std::move(out).str();
  return page;
}

}  // namespace qpscope
