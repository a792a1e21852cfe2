// SPDX-License-Identifier: Apache-2.0
#include "exporters/qp_series.h"

#include <algorithm>
#include <tuple>

#include "core/rdma.h"

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
constexpr std::array<const MetricDef*, 4> kMetrics{&kQpInfo, &kQpInfoProcess, &kQpState, &kQpChange};

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

}  // namespace

MetricList qp_series_metrics() { return kMetrics; }

std::vector<std::size_t> QpSlots::choose(std::span<const QpRecord> all, BootTime now) {
  std::erase_if(swaps_, [&](BootTime at) { return seconds(now, at) > 60; });
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) order[i] = i;
  const auto rank = [&](std::size_t i) {
    return std::tuple(all[i].state != QpState::err, all[i].created.value_or(BootTime{}), all[i].key);
  };
  std::ranges::sort(order, {}, rank);

  std::map<QpKey, std::size_t> alive;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (held_.contains(all[i].key)) alive.emplace(all[i].key, i);
  }
  std::erase_if(held_, [&](const auto& entry) { return !alive.contains(entry.first); });

  for (const std::size_t i : order) {
    if (held_.contains(all[i].key)) continue;
    if (held_.size() >= limit_) was_full_ = true;
    if (was_full_ && swaps_.size() >= kSwapsPerMinute) break;
    if (held_.size() >= limit_) {
      if (all[i].state != QpState::err) break;  // only a QP in ERR takes another's place
      const auto victim = std::ranges::find_if(held_, [&](const auto& entry) {
        return seconds(now, entry.second) >= kHoldSeconds && all[alive.at(entry.first)].state != QpState::err;
      });
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
      case QpFamily::state_change:
        out->push_back(sample(kQpChange, identity(snapshot, qp), static_cast<double>(qp.changed.value) / 1e9 + wall_minus_boot));
        break;
    }
  }
  return out;
}

}  // namespace qpscope
