// SPDX-License-Identifier: Apache-2.0
#include "incident_story.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "fields.h"
#include "units.h"

namespace qpscope::cli {
namespace {

constexpr std::size_t kMinute = 60, kLookBack = 120;  // seconds
constexpr double kEndingsBack = 30;                   // seconds before the trigger in which an end belongs to it
constexpr double kTogether = 1;                       // seconds: ends of one owner's queue pairs are one line
constexpr std::size_t kMostSeconds = 86400, kMostRows = 14;
constexpr std::string_view kPrefix = "qpscope_", kTenantStem = "tenant_";

using Weight = IncidentLine::Weight;

bool is_traffic(const std::string& name) {
  for (const char* stem : {"rx_bytes_total", "tx_bytes_total", "rx_packets_total", "tx_packets_total"}) {
    if (name == std::string("port_") + stem || name == std::string("tenant_") + stem || name == std::string("port_vport_rdma_") + stem) return true;
  }
  return false;
}

IncidentSeries series_of(const Json& one) {
  IncidentSeries out{.name = text_or(one, "name", "")};
  if (out.name.starts_with(kPrefix)) out.name.erase(0, kPrefix.size());
  const Json& labels = child(one, "labels");
  std::string device, port, tenant, workload;
  if (labels.is_object()) {
    for (const auto& [key, unused] : labels.items()) {
      std::string value = text_or(labels, key.c_str(), "");
      if (key == "device") device = value;
      else if (key == "port") port = value;
      else if (key == "tenant") tenant = value;
      else if (key == "workload") workload = value;
      else if (key != "method" && !value.empty()) out.detail += (out.detail.empty() ? "" : " ") + value;
    }
  }
  out.place = device + (port.empty() ? "" : "/" + port);
  if (!tenant.empty()) out.owner = tenant + "/" + workload;
  out.counter = out.name.ends_with("_total");
  out.traffic = is_traffic(out.name);
  for (const Json& value : child(one, "values")) {
    if (out.values.size() == kMostSeconds) break;
    const auto number = number_of(value);
    out.values.push_back(number ? std::optional(static_cast<float>(*number)) : std::nullopt);
  }
  return out;
}

// Mean of what is known of [from, to).
std::optional<double> mean(const IncidentSeries& one, std::size_t from, std::size_t to) {
  double sum = 0;
  std::size_t known = 0;
  for (std::size_t i = from; i < std::min(to, one.values.size()); ++i) {
    if (!one.values[i]) continue;
    sum += *one.values[i];
    ++known;
  }
  return known ? std::optional(sum / static_cast<double>(known)) : std::nullopt;
}

IncidentPart part_of(const IncidentSeries& one, std::size_t at) {
  const std::size_t minute = at > kMinute ? at - kMinute : 0;
  IncidentPart out;
  const auto before = mean(one, 0, minute), last = mean(one, minute, at), later = mean(one, at, one.values.size());
  out.known = before || last || later;
  out.before = before.value_or(0);
  out.minute = last.value_or(0);
  out.after = later.value_or(0);
  for (std::size_t i = minute; i < one.values.size(); ++i) {
    if (one.values[i] && *one.values[i] > out.peak) {
      out.peak = *one.values[i];
      out.peak_at = i;
    }
  }
  return out;
}

std::string words(const IncidentSeries& one) {
  std::string out = one.name.substr(0, one.name.size() - (one.counter ? std::string_view("_total").size() : 0));
  std::ranges::replace(out, '_', ' ');
  return out + (one.detail.empty() ? "" : " (" + one.detail + ")");
}

std::string whose(const IncidentSeries& one) { return one.place + (one.owner.empty() ? "" : " of " + one.owner); }

// A fault counter that began to move, or traffic that ceased, from two minutes before the trigger on.
std::optional<IncidentLine> movement(const IncidentSeries& one, const IncidentStory& story) {
  if (!one.counter) return std::nullopt;
  const std::size_t from = story.at > kLookBack ? story.at - kLookBack : 0;
  const double before = mean(one, 0, from).value_or(0);
  double most = 0;
  for (std::size_t i = from; i < one.values.size(); ++i) most = std::max<double>(most, one.values[i].value_or(0));
  const auto line = [&](std::size_t i, std::string text, Weight weight) {
    return IncidentLine{.time = story.began + static_cast<double>(i), .text = whose(one) + ": " + std::move(text), .weight = weight};
  };
  if (one.traffic) {
    if (before < 1e5) return std::nullopt;
    // For good: it does not come back within the window.
    std::size_t i = one.values.size();
    while (i > from && (!one.values[i - 1] || *one.values[i - 1] < before * 0.05)) --i;
    if (i + 3 > one.values.size() || i == from) return std::nullopt;
    return line(i, words(one) + " ceased: " + rate_words(one, before) + " before", Weight::warning);
  }
  if (most <= 0 || before > most * 0.1) return std::nullopt;
  for (std::size_t i = from; i < one.values.size(); ++i) {
    if (one.values[i].value_or(0) > std::max(before * 3, most * 0.02)) {
      return line(i, words(one) + " began: " + rate_words(one, before) + " before, up to " + rate_words(one, most), Weight::warning);
    }
  }
  return std::nullopt;
}

// What a tenant was credited with says nothing new where the port's own did the same.
void add_movements(IncidentStory& story) {
  std::set<std::tuple<std::string, std::string, std::string>> ports;
  std::vector<std::pair<const IncidentSeries*, IncidentLine>> tenants;
  for (const IncidentSeries& one : story.series) {
    auto moved = movement(one, story);
    if (!moved) continue;
    if (one.name.starts_with(kTenantStem)) {
      tenants.emplace_back(&one, std::move(*moved));
    } else {
      ports.emplace(one.place, one.name, one.detail);
      story.went_first.push_back(std::move(*moved));
    }
  }
  for (auto& [one, moved] : tenants) {
    if (!ports.contains({one->place, "port_" + one->name.substr(kTenantStem.size()), one->detail})) story.went_first.push_back(std::move(moved));
  }
}

std::string place_of(const Json& object) {
  const auto device = text_of(object, "device"), port = text_of(object, "port");
  return device.value_or("") + (port ? "/" + *port : "");
}

std::string owner_of(const Json& object) {
  const auto tenant = text_of(object, "tenant");
  return tenant ? *tenant + "/" + text_or(object, "workload", "") : std::string("unknown/unknown");
}

const char* how_words(const std::string& how) {
  if (how == "found_in_error") return "is in ERR and no call moved it there";
  if (how == "moved_to_error") return "was moved to ERR by a call";
  return "was destroyed";
}

// Ends of queue pairs: the first of each owner's in words, those within a second of it as a number.
void add_endings(IncidentStory& story, const Json& endings) {
  struct Group {
    std::size_t line, count;
    double last;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Group> groups;
  std::vector<std::size_t> more;
  for (const Json& one : endings) {
    const auto time = number_of(one, "time");
    if (!time || *time < story.time - kLookBack) continue;
    const Json& qp = child(one, "queue_pair");
    const std::string how = text_or(one, "how", "");
    auto [group, fresh] = groups.try_emplace({place_of(qp), owner_of(qp), how}, Group{story.timeline.size(), 0, *time});
    if (!fresh && *time - group->second.last <= kTogether) {
      ++group->second.count;
      group->second.last = *time;
      more.resize(story.timeline.size());
      ++more[group->second.line];
      continue;
    }
    group->second = {story.timeline.size(), 0, *time};
    story.timeline.push_back({.time = *time, .text = queue_pair_words(qp) + " " + how_words(how), .weight = how == "destroyed" ? Weight::warning : Weight::fault});
  }
  for (std::size_t i = 0; i < more.size(); ++i) {
    if (more[i]) story.timeline[i].text += ", and " + amount(static_cast<double>(more[i])) + " more of that workload right after";
  }
}

void add_owners(IncidentStory& story, const Json& incident) {
  std::map<std::pair<std::string, std::string>, IncidentOwner> owners;
  const auto find = [&](const Json& qp) -> IncidentOwner& {
    IncidentOwner& out = owners[{place_of(qp), owner_of(qp)}];
    out.place = place_of(qp);
    out.owner = owner_of(qp);
    return out;
  };
  for (const Json& one : child(incident, "endings")) {
    const auto time = number_of(one, "time");
    if (!time || *time < story.time - kEndingsBack) continue;
    IncidentOwner& owner = find(child(one, "queue_pair"));
    if (owner.ended++ == 0) owner.first = *time;
    if (text_or(one, "how", "") == "found_in_error") ++owner.found_in_error;
  }
  for (const Json& qp : child(incident, "queue_pairs")) {
    const std::string type = text_or(qp, "type", "");
    if (type == "GSI" || type == "SMI") continue;
    IncidentOwner& owner = find(qp);
    ++owner.left;
    if (text_or(qp, "state", "") == "ERR") ++owner.left_in_error;
  }
  for (auto& [key, owner] : owners) story.owners.push_back(std::move(owner));
  std::ranges::stable_sort(story.owners, std::greater(), [](const IncidentOwner& one) { return std::pair(one.ended, one.left_in_error); });
}

// How much a row is worth a look: a fault that rose, most of all.
double interest(const IncidentStory::Row& row) {
  const double now = std::max({row.part.minute, row.part.after, row.part.peak / 10}), rise = std::log10((now + 0.01) / (row.part.before + 0.01));
  return row.series->traffic ? 1000 + std::abs(rise) : std::abs(rise) + (row.part.before < now ? 100 : 0);
}

void add_rows(IncidentStory& story) {
  std::map<std::string, std::vector<IncidentStory::Row>> places;
  for (const IncidentSeries& one : story.series) {
    if (!one.counter || !one.owner.empty()) continue;
    const IncidentStory::Row row{.series = &one, .part = part_of(one, story.at)};
    if (row.part.known) places[one.place].push_back(row);
  }
  const auto take = [&](std::vector<IncidentStory::Row>& rows) {
    std::ranges::stable_sort(rows, std::greater(), interest);
    rows.resize(std::min(rows.size(), kMostRows));
    story.rows.insert(story.rows.end(), rows.begin(), rows.end());
    rows.clear();
  };
  if (const auto first = places.find(story.place); first != places.end()) take(first->second);
  for (auto& [place, rows] : places) take(rows);
}

Weight weight_of(const std::string& severity) { return severity == "error" ? Weight::fault : severity == "warning" ? Weight::warning : Weight::note; }

}  // namespace

std::string rate_words(const IncidentSeries& series, double per_second_) {
  if (series.name.ends_with("_bytes_total")) return bit_rate(per_second_);
  if (series.name.ends_with("_seconds_total")) return percent(per_second_) + " of the time";
  return per_second(per_second_);
}

std::string queue_pair_words(const Json& qp) {
  std::string out = "queue pair " + text_or(qp, "qpn", "?");
  if (const auto type = text_of(qp, "type")) out += " (" + *type + ")";
  if (const std::string place = place_of(qp); !place.empty()) out += " on " + place;
  out += " of " + owner_of(qp);
  const auto comm = text_of(qp, "comm"), pid = text_of(qp, "pid");
  if (comm || pid) out += " (" + comm.value_or("") + (comm && pid ? ", " : "") + (pid ? "pid " + *pid : "") + ")";
  const auto gid = text_of(qp, "remote_gid"), lid = text_of(qp, "remote_lid"), qpn = text_of(qp, "remote_qpn");
  if (gid || lid || qpn) out += " to" + (gid ? " " + short_gid(*gid) : lid ? " lid " + *lid : "") + (qpn ? " qpn " + *qpn : "");
  return out;
}

IncidentStory incident_story(const Json& incident) {
  IncidentStory out;
  out.time = number_of(incident, "time").value_or(0);
  out.began = number_of(incident, "began").value_or(out.time);
  out.ended = number_of(incident, "ended").value_or(out.time);
  out.at = out.time > out.began ? static_cast<std::size_t>(std::min<double>(out.time - out.began, kMostSeconds)) : 0;
  for (const Json& one : child(incident, "triggers")) {
    const std::string message = text_or(one, "message", "");
    if (out.why.empty()) out.place = place_of(one);
    out.why.push_back(message);
    out.timeline.push_back({.time = number_of(one, "time").value_or(out.time), .text = "trigger: " + message, .weight = Weight::fault});
  }
  for (const Json& one : child(incident, "series")) out.series.push_back(series_of(one));
  add_movements(out);
  out.timeline.insert(out.timeline.end(), out.went_first.begin(), out.went_first.end());
  if (const Json& first = child(incident, "first"); first.is_object()) {
    const Json& qp = child(first, "queue_pair");
    std::string text = queue_pair_words(qp) + " " + how_words(text_or(first, "how", ""));
    const double time = number_of(first, "time").value_or(out.time);
    const auto changed = number_of(qp, "state_change_timestamp_seconds");
    if (const auto state = text_of(qp, "state"); state && changed && *changed <= time) text += ", after " + duration(time - *changed) + " in " + *state;
    out.went_first.push_back({.time = time, .text = std::move(text) + ": the first to end", .weight = Weight::fault});
  }
  std::ranges::stable_sort(out.went_first, {}, &IncidentLine::time);
  add_endings(out, child(incident, "endings"));
  for (const Json& one : child(incident, "events")) {
    const auto time = number_of(one, "timestamp_seconds");
    const std::string kind = text_or(one, "kind", "");
    // Told already, by the ends of queue pairs.
    if (!time || *time < out.time - kLookBack || kind == "queue_pair_error" || kind == "incident") continue;
    const auto tenant = text_of(one, "tenant");
    out.timeline.push_back({.time = *time, .text = kind + ": " + text_or(one, "message", "") + (tenant ? " [" + owner_of(one) + "]" : ""), .weight = weight_of(text_or(one, "severity", ""))});
  }
  std::ranges::stable_sort(out.timeline, {}, &IncidentLine::time);
  add_owners(out, incident);
  add_rows(out);
  return out;
}

}  // namespace qpscope::cli
