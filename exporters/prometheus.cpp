// SPDX-License-Identifier: Apache-2.0
#include "exporters/prometheus.h"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "core/text.h"
#include "exporters/text_format.h"

namespace qpscope {
namespace {

struct Series {
  const Labels* labels;  // safe
  const Sample* sample;
};

struct Family {
  const MetricDef* def = nullptr;
  std::vector<Series> series;
};

// The labels themselves if they are safe as they are, as nearly all are; else copies, which `made` keeps.
const Labels* safe(const Labels& labels, std::deque<Labels>& made) {
  if (is_plain(labels.joined()) || std::ranges::all_of(labels, is_plain)) return &labels;
  std::vector<std::string> out;
  for (const std::string_view label : labels) out.push_back(safe_text(label));
  return &made.emplace_back(out);
}

bool less(const Series& a, const Series& b) { return *a.labels < *b.labels; }
bool equal(const Series& a, const Series& b) { return *a.labels == *b.labels; }

}  // namespace

Page render(std::span<const SharedSamples> lists, const LeftOut& left_out) {
  std::map<std::string_view, Family> families;
  std::deque<Labels> made_safe;  // of those few that are not safe as they are
  std::unordered_map<const MetricDef*, Family*> of_def;  // a name may have several
  const MetricDef* last = nullptr;
  Family* family = nullptr;
  for (const auto& list : lists) {
    if (!list) continue;
    for (const Sample& one : *list) {
      if (left_out.contains(one)) continue;
      if (one.def != last) {
        last = one.def;
        Family*& known = of_def[last];
        if (!known) known = &families[last->name];
        family = known;
        family->def = last;
      }
      family->series.push_back({safe(one.labels, made_safe), &one});
    }
  }
  Page page;
  for (auto& [name, one] : families) {
    if (!std::ranges::is_sorted(one.series, less)) std::ranges::stable_sort(one.series, less);
    const auto repeated = std::ranges::unique(one.series, equal);
    one.series.erase(repeated.begin(), repeated.end());
    text_format::append_head(page.text, *one.def);
    for (const auto& [labels, sample] : one.series) page.series += text_format::append_series(page.text, *one.def, *labels, sample->value);
  }
  return page;
}

void append_lines(std::string& out, std::span<const Sample> samples) {
  for (const Sample& one : samples) {
    std::deque<Labels> made_safe;
    text_format::append_series(out, *one.def, *safe(one.labels, made_safe), one.value);
  }
}

}  // namespace qpscope
