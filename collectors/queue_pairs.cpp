// SPDX-License-Identifier: Apache-2.0
#include "collectors/queue_pairs.h"

#include <array>
#include <tuple>

#include "core/rdma.h"

namespace qpscope {
namespace {

constexpr MetricType kCounter = MetricType::counter, kGauge = MetricType::gauge;
constexpr LabelNames kKind{"device", "type"};
constexpr MetricDef kPresent{"qpscope_queue_pairs", kGauge,
                             "Queue pairs that exist; port is empty before INIT, state is unknown for one that netlink has not told of yet (BPF ib_core; RDMA netlink).",
                             LabelNames{"device", "port", "type", "state", "tenant", "workload"}};
constexpr MetricDef kSeeded{"qpscope_queue_pairs_seeded", kGauge,
                            "Queue pairs that were there when this run of the daemon began; in the first run of a boot seeded + created - destroyed are present, later created "
                            "and destroyed go on from the run before (RDMA netlink RES_QP_GET).", kKind};
constexpr MetricDef kCreated{"qpscope_queue_pairs_created_total", kCounter, "Queue pairs created (BPF rdma_restrack_add).", kKind};
constexpr MetricDef kDestroyed{"qpscope_queue_pairs_destroyed_total", kCounter, "Queue pairs destroyed (BPF ib_destroy_qp_user).", kKind};
constexpr MetricDef kTransitions{"qpscope_queue_pair_transitions_total", kCounter,
                                 "State changes of queue pairs, those that hardware made by itself too (BPF ib_modify_qp; RDMA netlink RES_QP_GET).",
                                 LabelNames{"device", "port", "type", "from", "to"}};
constexpr MetricDef kFoundInErr{"qpscope_queue_pairs_found_in_err_total", kCounter,
                                "Queue pairs that were in ERR when they were asked about though no call had moved them there: hardware gave them up; without BPF also those "
                                "that their owner moved (RDMA netlink RES_QP_GET).", LabelNames{"device", "port"}};
constexpr MetricDef kFailures{"qpscope_queue_pair_call_failures_total", kCounter,
                              "Calls to create, modify or destroy a queue pair that failed (BPF ib_core return values).", LabelNames{"device", "call", "error"}};
constexpr MetricDef kSetup{"qpscope_queue_pair_setup_seconds", MetricType::histogram, "Time from creation to RTS of a connected queue pair (BPF ib_core).",
                           LabelNames{"device"}};
constexpr MetricDef kEvicted{"qpscope_qp_table_evicted_total", kCounter, "Queue pairs that found no room in the table, or lost it (bpf.qp_table_limit).", {}};
constexpr MetricDef kEntries{"qpscope_qp_table_entries", kGauge, "Queue pairs in the table.", {}};
constexpr MetricDef kDrift{"qpscope_qp_table_drift_total", kCounter,
                           "Queue pairs that only the table or only the kernel had when the two were compared (RDMA netlink RES_QP_GET).", LabelNames{"side"}};
constexpr MetricDef kDevx{"qpscope_devx_queue_pairs", kGauge,
                          "Queue pairs, DCTs and raw send and receive queues made by DEVX since the probes came, which ib_core and RDMA netlink do not know (BPF mlx5_ib).",
                          LabelNames{"device", "tenant", "workload"}};
constexpr std::array<const MetricDef*, 12> kMetrics{&kPresent, &kDevx, &kSeeded, &kCreated, &kDestroyed, &kTransitions, &kFoundInErr, &kFailures, &kSetup, &kEvicted, &kEntries, &kDrift};

constexpr std::string_view name_of(QpCallFailed::Call call) {
  switch (call) {
    case QpCallFailed::Call::create: return "create";
    case QpCallFailed::Call::modify: return "modify";
    case QpCallFailed::Call::destroy: return "destroy";
  }
  return "";
}

std::string port_text(PortNum port) { return port.value ? std::to_string(port.value) : std::string(); }
std::string state_text(const std::optional<QpState>& state) { return std::string(state ? to_string(*state) : "unknown"); }

class Writer {
 public:
  explicit Writer(const QueuePairView& view) : view_(view) {}

  void present() {
    std::map<std::tuple<DeviceIndex, PortNum, QpType, std::optional<QpState>, TenantId>, std::size_t> counts;
    for (const QpRecord& qp : view_.records) ++counts[{qp.key.device, qp.port, qp.type, qp.state, qp.tenant}];
    for (const auto& [key, count] : counts) {
      const auto& [device, port, type, state, tenant] = key;
      const Tenant& who = view_.tenants[tenant];
      add(kPresent, device, {port_text(port), to_string(type), state_text(state), who.tenant, who.workload}, static_cast<double>(count));
    }
    out_.push_back(sample(kEntries, {}, static_cast<double>(view_.records.size())));
  }

  void devx() {
    for (const auto& [key, count] : view_.devx) {
      const Tenant& who = view_.tenants[key.second];
      add(kDevx, key.first, {who.tenant, who.workload}, static_cast<double>(count));
    }
  }

  void by_kind(const MetricDef& def, const std::map<QpTotals::Kind, std::uint64_t>& counts) {
    for (const auto& [kind, count] : counts) add(def, kind.device, {to_string(kind.type)}, static_cast<double>(count));
  }

  void totals() {
    const QpTotals& t = view_.totals;
    by_kind(kSeeded, t.seeded);
    by_kind(kCreated, t.created);
    by_kind(kDestroyed, t.destroyed);
    for (const auto& [key, count] : t.transitions) {
      add(kTransitions, key.device, {port_text(key.port), to_string(key.type), state_text(key.from), state_text(key.to)}, static_cast<double>(count));
    }
    for (const auto& [where, count] : t.found_in_err) add(kFoundInErr, where.first, {port_text(where.second)}, static_cast<double>(count));
    for (const auto& [key, count] : t.failures) add(kFailures, key.device, {std::string(name_of(key.call)), errno_name(key.error)}, static_cast<double>(count));
    for (const auto& [device, setup] : t.setup) {
      if (const auto name = view_.devices.find(device); name != view_.devices.end()) {
        out_.push_back({&kSetup, {name->second}, HistogramValue{kSetupBounds, {setup.counts.begin(), setup.counts.end()}, setup.sum}});
      }
    }
    out_.push_back(sample(kEvicted, {}, static_cast<double>(t.evicted)));
    out_.push_back(sample(kDrift, {"table"}, static_cast<double>(t.drift_table_only)));
    out_.push_back(sample(kDrift, {"kernel"}, static_cast<double>(t.drift_kernel_only)));
  }

  SampleList take() {
    for (auto& [key, value] : sums_) out_.push_back(sample(*key.first, key.second, value));
    return std::move(out_);
  }

 private:
  // Several keys may read alike (every driver-internal type is DRIVER): their values add up to one series.
  void add(const MetricDef& def, DeviceIndex device, std::vector<std::string> labels, double value) {
    const auto name = view_.devices.find(device);
    if (name == view_.devices.end()) return;
    labels.insert(labels.begin(), name->second);
    sums_[{&def, std::move(labels)}] += value;
  }

  const QueuePairView& view_;
  std::map<std::pair<const MetricDef*, std::vector<std::string>>, double> sums_;
  SampleList out_;
};

}  // namespace

MetricList queue_pair_metrics() { return kMetrics; }

SampleList queue_pair_samples(const QueuePairView& view) {
  Writer writer(view);
  writer.present();
  writer.devx();
  writer.totals();
  return writer.take();
}

}  // namespace qpscope
