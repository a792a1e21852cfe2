// SPDX-License-Identifier: Apache-2.0
#include "exporters/qp_series.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "core/rdma.h"
#include "core/rdma_events.h"
#include "exporters/prometheus.h"
#include "exporters/text_format.h"

namespace qpscope {
namespace {

constexpr double kHoldSeconds = 900;
constexpr std::size_t kSwapsPerMinute = 20;

constexpr LabelNames kIdentity{"device", "port", "qpn", "generation"};
constexpr LabelNames kInfo = kIdentity.with("type", "tenant", "workload", "local_gid", "remote_gid", "remote_lid", "remote_qpn", "traffic_class", "path_mtu");
constexpr std::string_view kInfoHelp =
    "A queue pair, its owner and its peer; path_mtu in bytes, empty where not known; pid and comm on /metrics/qps only (BPF ib_core; RDMA netlink RES_QP_GET).";
constexpr MetricDef kQpInfo{"qpscope_qp_info", MetricType::gauge, kInfoHelp, kInfo};
constexpr MetricDef kQpInfoProcess{"qpscope_qp_info", MetricType::gauge, kInfoHelp, kInfo.with("pid", "comm")};
constexpr MetricDef kQpState{"qpscope_qp_state", MetricType::gauge,
                             "State of a queue pair: 0 RESET, 1 INIT, 2 RTR, 3 RTS, 4 SQD, 5 SQE, 6 ERR (BPF ib_modify_qp; RDMA netlink RES_QP_GET).",
                             kIdentity};
constexpr MetricDef kQpChange{"qpscope_qp_state_change_timestamp_seconds", MetricType::gauge,
                              "Unix time of a queue pair's last state change, or of when it was first seen (BPF ib_modify_qp).",
                              kIdentity};
constexpr MetricDef kQpCounters{"qpscope_qp_hw_counters_total", MetricType::counter,
                                "A hardware counter of a queue pair while it is alone in a counter set, by its kernel name (RDMA netlink STAT_GET).", kIdentity.with("counter")};
constexpr MetricDef kQpEvents{"qpscope_qp_async_events_total", MetricType::counter,
                              "Asynchronous events of a queue pair by their kernel name, without those of a storm; there is none for one that had none (BPF ib_core, ib_uverbs).", kIdentity.with("event")};
constexpr MetricDef kOmitted{"qpscope_queue_pairs_omitted", MetricType::gauge, "Queue pairs without series on this page, where there are too many (/metrics/qps).", {}};
constexpr std::array<const MetricDef*, 7> kMetrics{&kQpInfo, &kQpInfoProcess, &kQpState, &kQpChange, &kQpCounters, &kQpEvents, &kOmitted};
constexpr std::array<const MetricDef*, kQpFamilies> kByFamily{&kQpInfoProcess, &kQpState, &kQpChange, &kQpCounters, &kQpEvents};

std::string text(const std::optional<std::uint32_t>& value) { return value ? std::to_string(*value) : std::string(); }
std::string text(const std::optional<Gid>& gid) { return gid ? to_string(*gid) : std::string(); }

std::vector<std::string> identity(const Snapshot& snapshot, const QpRecord& qp) {
  const auto name = snapshot.devices->find(qp.key.device);
  return {name == snapshot.devices->end() ? std::string() : name->second, qp.port.value ? std::to_string(qp.port.value) : std::string(),
          std::to_string(qp.qpn.value), std::to_string(qp.generation)};
}

std::vector<std::string> info_labels(const Snapshot& snapshot, const QpRecord& qp, QpDetail detail) {
  auto labels = identity(snapshot, qp);
  const Tenant& tenant = snapshot.tenants->at(qp.tenant);
  const std::string remote_qpn = qp.remote_qpn ? std::to_string(qp.remote_qpn->value) : std::string();
  labels.insert(labels.end(), {to_string(qp.type), tenant.tenant, tenant.workload, text(qp.local_gid), text(qp.remote_gid), text(qp.remote_lid),
                               remote_qpn, text(qp.traffic_class), text(qp.path_mtu)});
  if (detail == QpDetail::with_process) {
    const bool process = qp.owner && qp.owner->known && qp.owner->user;
    labels.push_back(process && qp.owner->tgid.value ? std::to_string(qp.owner->tgid.value) : std::string());
    labels.push_back(process ? qp.owner->comm : std::string());
  }
  return labels;
}

// A lesser value is a better claim to a slot.
enum class Claim : std::uint8_t { in_err, moved, old };
Claim claim_of(const QpRecord& qp, const OwnCountersMoved& moved) {
  if (qp.state == QpState::err) return Claim::in_err;
  return moved && moved(qp) ? Claim::moved : Claim::old;
}

// Leaves the `most` with the best claims, the best first; of equal ones the longest-lived.
void best_first(std::vector<std::size_t>& indexes, std::span<const QpRecord> all, std::size_t most, const OwnCountersMoved& moved) {
  std::vector<std::tuple<Claim, BootTime, QpKey, std::size_t>> ranked;
  ranked.reserve(indexes.size());
  for (const std::size_t i : indexes) ranked.emplace_back(claim_of(all[i], moved), all[i].created.value_or(BootTime{}), all[i].key, i);
  std::ranges::partial_sort(ranked, ranked.begin() + static_cast<std::ptrdiff_t>(most));
  indexes.clear();
  for (std::size_t n = 0; n < most; ++n) indexes.push_back(std::get<std::size_t>(ranked[n]));
}

}  // namespace

OwnCountersMoved own_counters_moved(const Snapshot& snapshot) {
  if (snapshot.qp_counters.empty()) return {};
  return [&snapshot](const QpRecord& qp) {
    const auto own = snapshot.qp_counters.find(qp.key);
    return own != snapshot.qp_counters.end() && seconds(snapshot.at, own->second.moved) < kHoldSeconds;
  };
}

std::size_t room_for_qps(const Snapshot& snapshot, std::size_t series) {
  std::size_t own = 0;
  for (const auto& [key, counters] : snapshot.qp_counters) own += counters.totals.size();
  for (const QpRecord& qp : *snapshot.queue_pairs) own += qp.async_events.size();
  return series > own ? (series - own) / kEveryQpFamilies : 0;
}

MetricList qp_series_metrics() { return kMetrics; }
std::string_view name_of(QpFamily family) { return kByFamily.at(static_cast<std::size_t>(family))->name; }

std::vector<std::size_t> QpSlots::choose(std::span<const QpRecord> all, BootTime now, const OwnCountersMoved& moved, std::size_t most) {
  std::erase_if(swaps_, [&](BootTime at) { return seconds(now, at) > 60; });
  std::map<QpKey, std::size_t> alive;  // that have a slot
  std::vector<std::size_t> newcomers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (held_.contains(all[i].key)) {
      alive.emplace(all[i].key, i);
    } else {
      newcomers.push_back(i);
    }
  }
  std::erase_if(held_, [&](const auto& entry) { return !alive.contains(entry.first); });
  best_first(newcomers, all, std::min(limit_, newcomers.size()), moved);

  for (const std::size_t i : newcomers) {
    if (held_.size() >= limit_) was_full_ = true;
    if (was_full_ && swaps_.size() >= kSwapsPerMinute) break;
    if (held_.size() >= limit_) {
      const auto claim = claim_of(all[i], moved);
      auto victim = held_.end();
      Claim least = claim;
      for (auto it = held_.begin(); it != held_.end(); ++it) {
        const Claim theirs = claim_of(all[alive.at(it->first)], moved);
        if (seconds(now, it->second) < kHoldSeconds || theirs <= least) continue;
        victim = it;
        least = theirs;
      }
      if (victim == held_.end()) break;
      held_.erase(victim);
    }
    if (was_full_) swaps_.push_back(now);
    held_.emplace(all[i].key, now);
    alive.emplace(all[i].key, i);
  }
  if (held_.size() >= limit_) was_full_ = true;
  std::vector<std::size_t> chosen;
  for (const auto& [key, since] : held_) chosen.push_back(alive.at(key));
  if (chosen.size() > most) best_first(chosen, all, most, moved);
  std::ranges::sort(chosen);
  return chosen;
}

SharedSamples qp_family(QpFamily family, const Snapshot& snapshot, const std::vector<std::size_t>* chosen, QpDetail detail, double wall_minus_boot) {
  auto out = std::make_shared<SampleList>();
  if (!snapshot.queue_pairs) return out;
  const auto& all = *snapshot.queue_pairs;
  const std::size_t count = chosen ? chosen->size() : all.size();
  out->reserve(count);
  for (std::size_t n = 0; n < count; ++n) {
    const QpRecord& qp = all[chosen ? (*chosen)[n] : n];
    switch (family) {
      case QpFamily::info: {
        const MetricDef& def = detail == QpDetail::with_process ? kQpInfoProcess : kQpInfo;
        out->push_back(sample(def, info_labels(snapshot, qp, detail), 1));
        break;
      }
      case QpFamily::state:
        if (qp.state) out->push_back(sample(kQpState, identity(snapshot, qp), static_cast<double>(*qp.state)));
        break;
      case QpFamily::hw_counters: {
        const auto own = snapshot.qp_counters.find(qp.key);
        if (own == snapshot.qp_counters.end()) break;
        for (const auto& [name, total] : own->second.totals) {
          auto labels = identity(snapshot, qp);
          labels.push_back(name);
          out->push_back(sample(kQpCounters, std::move(labels), static_cast<double>(total)));
        }
        break;
      }
      case QpFamily::async_events:
        for (const auto& [event, count] : qp.async_events) {
          auto labels = identity(snapshot, qp);
          labels.push_back(async_event_name(event));
          out->push_back(sample(kQpEvents, std::move(labels), static_cast<double>(count)));
        }
        break;
      case QpFamily::state_change:
        out->push_back(sample(kQpChange, identity(snapshot, qp), static_cast<double>(qp.changed.value) / 1e9 + wall_minus_boot));
        break;
    }
  }
  return out;
}

namespace {

constexpr std::size_t kPiece = 250;  // queue pairs: about 80 KB of text

// Without the later ones of those that would read alike, which make Prometheus refuse a page: numbers that have been given to two
// QPs older than the daemon. Every other generation is given once.
std::vector<std::size_t> told_apart(const Snapshot& snapshot) {
  const auto& all = *snapshot.queue_pairs;
  std::vector<std::size_t> out;
  out.reserve(all.size());
  std::set<std::vector<std::string>> old;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].generation != 0 || old.insert(identity(snapshot, all[i])).second) out.push_back(i);
  }
  return out;
}

}  // namespace

QpPage::QpPage(std::shared_ptr<const Snapshot> snapshot, double wall_minus_boot, const OwnCountersMoved& moved)
    : snapshot_(std::move(snapshot)), wall_minus_boot_(wall_minus_boot) {
  if (!snapshot_->queue_pairs) return;
  chosen_ = told_apart(*snapshot_);
  if (chosen_.size() > kMost) {
    omitted_ = chosen_.size() - kMost;
    best_first(chosen_, *snapshot_->queue_pairs, kMost, moved);
    std::ranges::sort(chosen_);
  }
}

std::string QpPage::next() {
  std::string out;
  while (out.empty() && family_ < kQpFamilies) {
    const auto end = std::min(at_ + kPiece, chosen_.size());
    const std::vector<std::size_t> part(chosen_.begin() + static_cast<std::ptrdiff_t>(at_), chosen_.begin() + static_cast<std::ptrdiff_t>(end));
    const SharedSamples samples = qp_family(static_cast<QpFamily>(family_), *snapshot_, &part, QpDetail::with_process, wall_minus_boot_);
    if (!samples->empty() && !std::exchange(headed_, true)) text_format::append_head(out, *kByFamily.at(family_));
    append_lines(out, *samples);
    at_ = end;
    if (at_ < chosen_.size()) continue;
    ++family_;
    at_ = 0;
    headed_ = false;
  }
  if (out.empty() && omitted_ > 0) {
    text_format::append_head(out, kOmitted);
    append_lines(out, std::array{sample(kOmitted, {}, static_cast<double>(std::exchange(omitted_, 0)))});
  }
  return out;
}

}  // namespace qpscope
