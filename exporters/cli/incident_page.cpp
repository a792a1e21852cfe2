// SPDX-License-Identifier: Apache-2.0
// The charts are SVG drawn here: the page needs no script, so that it may be mailed, archived and opened anywhere.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "fields.h"
#include "incident_report.h"
#include "incident_story.h"
#include "units.h"

namespace qpscope::cli {
namespace {

constexpr std::size_t kMostCharts = 24, kMostLines = 6, kMostTimeline = 300;
constexpr double kWidth = 420, kHeight = 90;

constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--text:#1a1d21;--dim:#5b6470;--page:#fff;--box:#f4f6f8;--line:#d5dae0;--bad:#b3261e;--warning:#8a5a00}
@media(prefers-color-scheme:dark){:root{--text:#e7eaee;--dim:#9aa4b0;--page:#14171a;--box:#1d2126;--line:#353c45;--bad:#ff8a80;--warning:#ffc24d}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--text);background:var(--page);max-width:72rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}p{margin:.2rem 0}.dim{color:var(--dim)}.fault{color:var(--bad)}.warning{color:var(--warning)}
.lead{background:var(--box);border-left:4px solid var(--bad);padding:.6rem 1rem;margin:1rem 0}
table{border-collapse:collapse;font-size:.9rem}th,td{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}td.n,th.n{text-align:right}
time{font-variant-numeric:tabular-nums;white-space:nowrap}.wide{overflow-x:auto}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(20rem,1fr));gap:1rem}figure{margin:0;background:var(--box);padding:.5rem .8rem}figcaption{font-size:.85rem}
svg{width:100%;height:auto;display:block}polyline{fill:none;stroke-width:1.5;vector-effect:non-scaling-stroke}.trigger{stroke:var(--bad);stroke-width:1;stroke-dasharray:3 2;vector-effect:non-scaling-stroke}
.minute{fill:var(--line);opacity:.5}.c0{stroke:#2f7ed8;color:#2f7ed8}.c1{stroke:#d9822b;color:#d9822b}.c2{stroke:#2a9d5c;color:#2a9d5c}.c3{stroke:#a64bd0;color:#a64bd0}.c4{stroke:#c23b52;color:#c23b52}.c5{stroke:#6b7280;color:#6b7280}
)";

// Text that came through fields.h has no control characters.
std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

const char* class_of(IncidentLine::Weight weight) { return weight == IncidentLine::Weight::fault ? "fault" : weight == IncidentLine::Weight::warning ? "warning" : ""; }

std::string line_of(const IncidentLine& one) {
  return "<tr><td><time>" + escaped(exact_time(one.time)) + "</time></td><td class=\"" + class_of(one.weight) + "\">" + escaped(one.text) + "</td></tr>\n";
}

// Gaps stay gaps: a line for each stretch that was read.
std::string polylines(const IncidentSeries& series, double top, std::size_t colour) {
  std::string out, points;
  const double step = series.values.size() > 1 ? kWidth / static_cast<double>(series.values.size() - 1) : kWidth;
  const auto end = [&] {
    if (!points.empty()) out += "<polyline class=\"c" + std::to_string(colour) + "\" points=\"" + points + "\"/>";
    points.clear();
  };
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    if (!series.values[i]) {
      end();
      continue;
    }
    points += number(static_cast<double>(i) * step) + "," + number(kHeight - std::clamp<double>(*series.values[i] / top, 0, 1) * (kHeight - 4) - 1) + " ";
  }
  end();
  return out;
}

// Series of one name on one place, in one picture.
struct Chart {
  std::string place, name;
  std::vector<const IncidentSeries*> series;
  double most = 0;
};

std::vector<Chart> charts_of(const IncidentStory& story) {
  std::map<std::pair<std::string, std::string>, Chart> all;
  for (const IncidentSeries& one : story.series) {
    double most = 0;
    for (const auto& value : one.values) most = std::max<double>(most, value.value_or(0));
    if (most <= 0) continue;
    Chart& chart = all[{one.place, one.name}];
    chart.place = one.place;
    chart.name = one.name;
    chart.series.push_back(&one);
    chart.most = std::max(chart.most, most);
  }
  std::vector<Chart> out;
  for (auto& [key, chart] : all) out.push_back(std::move(chart));
  // That of the trigger first, and there what the ports did before what the tenants did.
  std::ranges::stable_sort(out, {}, [&](const Chart& one) { return std::pair(one.place != story.place, one.name.starts_with("tenant_")); });
  return out;
}

std::string chart(const IncidentStory& story, const Chart& one) {
  std::string title = one.name;
  if (title.ends_with("_total")) title.resize(title.size() - 6);
  std::ranges::replace(title, '_', ' ');
  const std::size_t length = one.series.front()->values.size();
  const double step = length > 1 ? kWidth / static_cast<double>(length - 1) : kWidth;
  const double at = static_cast<double>(story.at) * step, minute = std::min(at, 60 * step);
  const bool counts = one.series.front()->counter;
  std::string out = "<figure><figcaption><b>" + escaped(one.place + " " + title) + "</b> <span class=\"dim\">up to " +
                    escaped(counts ? rate_words(*one.series.front(), one.most) : amount(one.most)) + "</span></figcaption><svg viewBox=\"0 0 " + number(kWidth) + " " + number(kHeight) +
                    "\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"" + escaped(title) + "\"><rect class=\"minute\" x=\"" + number(at - minute) + "\" y=\"0\" width=\"" + number(minute) +
                    "\" height=\"" + number(kHeight) + "\"/><line class=\"trigger\" x1=\"" + number(at) + "\" x2=\"" + number(at) + "\" y1=\"0\" y2=\"" + number(kHeight) + "\"/>";
  std::string legend;
  for (std::size_t i = 0; i < std::min(one.series.size(), kMostLines); ++i) {
    const IncidentSeries& series = *one.series[i];
    out += polylines(series, one.most, i);
    const std::string name = series.owner + (series.owner.empty() || series.detail.empty() ? "" : " ") + series.detail;
    if (!name.empty()) legend += "<span class=\"c" + std::to_string(i) + "\">" + escaped(name) + "</span> ";
  }
  if (one.series.size() > kMostLines) legend += "<span class=\"dim\">and " + std::to_string(one.series.size() - kMostLines) + " more in the file</span>";
  return out + "</svg><figcaption>" + legend + "</figcaption></figure>\n";
}

std::string cell(const std::string& text, bool measure) { return std::string(measure ? "<td class=\"n\">" : "<td>") + escaped(text) + "</td>"; }

std::string owners(const IncidentStory& story) {
  if (story.owners.empty()) return {};
  std::string out = "<h2>Whose queue pairs</h2><div class=\"wide\"><table><tr><th>Whose<th>On<th>First end<th class=\"n\">Ended<th class=\"n\">by themselves<th class=\"n\">Left<th class=\"n\">in ERR</tr>\n";
  for (const IncidentOwner& one : story.owners) {
    out += "<tr>" + cell(one.owner, false) + cell(one.place, false) + cell(one.first > 0 ? exact_time(one.first) : "-", false);
    for (const std::size_t count : {one.ended, one.found_in_error, one.left, one.left_in_error}) out += cell(amount(static_cast<double>(count)), true);
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string ports(const IncidentStory& story) {
  if (story.rows.empty()) return {};
  std::string out = "<h2>What the ports did</h2><div class=\"wide\"><table><tr><th>On<th>Counter<th class=\"n\">Before<th class=\"n\">Minute before<th class=\"n\">After<th class=\"n\">Peak<th>At</tr>\n";
  for (const IncidentStory::Row& row : story.rows) {
    out += "<tr>" + cell(row.series->place, false) + cell(row.series->name + (row.series->detail.empty() ? "" : " " + row.series->detail), false);
    for (const double value : {row.part.before, row.part.minute, row.part.after, row.part.peak}) out += cell(rate_words(*row.series, value), true);
    out += cell(row.part.peak > 0 ? exact_time(story.began + static_cast<double>(row.part.peak_at)).substr(0, 8) : "-", false) + "</tr>\n";
  }
  return out + "</table></div>\n";
}

}  // namespace

std::string incident_page(const Json& incident) {
  const IncidentStory story = incident_story(incident);
  const std::string id = escaped(text_or(incident, "id", "")), host = escaped(text_or(incident, "host", "an unknown host"));
  std::string out = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"><title>" + id + " on " + host + "</title><style>" + kStyle + "</style></head><body>\n";
  out += "<h1>Incident " + id + "</h1><p class=\"dim\">on " + host + ", recorded from " + escaped(clock_time(story.began)) + " to " + escaped(clock_time(story.ended)) + "</p>\n<div class=\"lead\">";
  for (const std::string& why : story.why) out += "<p>" + escaped(why) + "</p>";
  out += "</div>\n<h2>What went first</h2><table>\n";
  for (const IncidentLine& one : story.went_first) out += line_of(one);
  if (story.went_first.empty()) out += "<tr><td>nothing that was recorded moved</td></tr>\n";
  out += "</table>\n" + owners(story) + ports(story);
  const std::vector<Chart> charts = charts_of(story);
  if (!charts.empty()) out += "<h2>Second by second</h2><p class=\"dim\">The shaded minute is the one before the incident, which is the dashed line.</p><div class=\"charts\">\n";
  for (std::size_t i = 0; i < std::min(charts.size(), kMostCharts); ++i) out += chart(story, charts[i]);
  if (!charts.empty()) out += "</div>\n";
  if (charts.size() > kMostCharts) out += "<p class=\"dim\">and " + std::to_string(charts.size() - kMostCharts) + " more charts would be of other counters: --json</p>\n";
  out += "<h2>What happened</h2><table>\n";
  for (std::size_t i = 0; i < std::min(story.timeline.size(), kMostTimeline); ++i) out += line_of(story.timeline[i]);
  return out + "</table>\n</body></html>\n";
}

}  // namespace qpscope::cli
