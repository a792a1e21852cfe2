// SPDX-License-Identifier: Apache-2.0
#include "incident_report.h"

#include <algorithm>

#include "incident_story.h"
#include "text_width.h"
#include "units.h"

namespace qpscope::cli {
namespace {

constexpr std::size_t kMostMoved = 12, kMostOwners = 12, kMostTimeline = 60, kMostWhy = 8;

Tone tone_of(IncidentLine::Weight weight) {
  return weight == IncidentLine::Weight::fault ? Tone::bad : weight == IncidentLine::Weight::warning ? Tone::warning : Tone::plain;
}

std::string head(const char* text, const Screen& screen) { return "\n" + toned(text, Tone::strong, screen) + "\n"; }

// Lines that are longer than the screen go on below their text.
std::string wrapped(const std::string& time, const std::string& text, Tone tone, const Screen& screen) {
  std::string out = "  " + time + "  ";
  const std::size_t indent = columns_of(out);
  const std::size_t width = screen.columns > indent + 20 ? screen.columns - indent : 0;
  std::string_view rest = text;
  for (bool first = true; !rest.empty(); first = false) {
    std::size_t cut = rest.size();
    if (width && columns_of(rest) > width) {
      cut = 0;
      for (std::size_t blank = rest.find(' '); blank != std::string_view::npos && columns_of(rest.substr(0, blank)) <= width; blank = rest.find(' ', blank + 1)) cut = blank;
      if (cut == 0) cut = std::min(rest.find(' '), rest.size());
    }
    out += (first ? "" : std::string(indent, ' ')) + toned(rest.substr(0, cut), tone, screen) + "\n";
    rest.remove_prefix(std::min(cut + 1, rest.size()));
  }
  return out;
}

std::string lines(const std::vector<IncidentLine>& all, std::size_t most, const Screen& screen) {
  std::string out;
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i) out += wrapped(exact_time(all[i].time), all[i].text, tone_of(all[i].weight), screen);
  if (all.size() > most) out += "  ... and " + amount(static_cast<double>(all.size() - most)) + " more: --json\n";
  return out;
}

std::string indented(const Table& table, const Screen& screen) {
  Screen narrower = screen;
  if (narrower.columns > 2) narrower.columns -= 2;
  std::string out;
  for (const std::string& line : table.lines(narrower, {})) out += "  " + line + "\n";
  return out;
}

std::string owners(const IncidentStory& story, const Screen& screen) {
  Table table({{"WHOSE", 0, false, 12}, {"ON"}, {"FIRST END", 2}, {"ENDED", 0, true}, {"BY ITSELF", 1, true}, {"LEFT", 3, true}, {"IN ERR", 4, true}});
  for (const IncidentOwner& one : story.owners) {
    if (table.size() == kMostOwners) break;
    const auto count = [](std::size_t number) { return Cell{.text = amount(static_cast<double>(number))}; };
    table.add({{.text = one.owner}, {.text = one.place}, {.text = one.first > 0 ? exact_time(one.first) : "-"}, count(one.ended), count(one.found_in_error), count(one.left), count(one.left_in_error)});
  }
  return table.size() ? head("Whose queue pairs", screen) + indented(table, screen) : std::string();
}

std::string ports(const IncidentStory& story, const Screen& screen) {
  Table table({{"ON"}, {"COUNTER", 0, false, 20}, {"BEFORE", 0, true}, {"MINUTE BEFORE", 0, true}, {"AFTER", 1, true}, {"PEAK", 2, true}, {"AT", 3}});
  for (const IncidentStory::Row& row : story.rows) {
    const auto rate = [&](double value) { return Cell{.text = rate_words(*row.series, value)}; };
    std::string name = row.series->name.substr(row.series->name.starts_with("port_") ? 5 : 0);
    if (name.ends_with("_total")) name.resize(name.size() - 6);
    if (!row.series->detail.empty()) name += " " + row.series->detail;
    table.add({{.text = row.series->place}, {.text = name}, rate(row.part.before), rate(row.part.minute), rate(row.part.after), rate(row.part.peak),
               {.text = row.part.peak > 0 ? exact_time(story.began + static_cast<double>(row.part.peak_at)).substr(0, 8) : "-"}});
  }
  return table.size() ? head("What the ports did: on average before, in the minute before, and after", screen) + indented(table, screen) : std::string();
}

}  // namespace

Table incident_table(const std::vector<Json>& heads) {
  Table table({{"TIME"}, {"INCIDENT"}, {"WHAT", 0, false, 40}});
  for (const Json& one : heads) table.add({value_cell(number_of(one, "time"), clock_time), text_cell(one, "id"), text_cell(one, "summary")});
  return table;
}

std::string incident_report(const Json& incident, const Screen& screen) {
  const IncidentStory story = incident_story(incident);
  std::string out = toned("Incident " + text_or(incident, "id", ""), Tone::strong, screen) + " on " + text_or(incident, "host", "an unknown host") + "\n";
  out += "  recorded from " + clock_time(story.began) + " to " + clock_time(story.ended) + ", second by second\n";
  out += head("Why it was kept", screen);
  for (std::size_t i = 0; i < std::min(story.why.size(), kMostWhy); ++i) out += wrapped(i == 0 ? exact_time(story.time) : std::string(12, ' '), story.why[i], i == 0 ? Tone::bad : Tone::plain, screen);
  if (story.why.size() > kMostWhy) out += "  ... and " + amount(static_cast<double>(story.why.size() - kMostWhy)) + " more\n";
  out += head("What went first", screen);
  out += lines(story.went_first, kMostMoved, screen);
  if (story.went_first.empty()) out += "  nothing that was recorded moved\n";
  out += owners(story, screen) + ports(story, screen);
  out += head("What happened, from two minutes before on", screen) + lines(story.timeline, kMostTimeline, screen);
  return out;
}

}  // namespace qpscope::cli
