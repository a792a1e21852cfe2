// SPDX-License-Identifier: Apache-2.0
#include "kernel_events.h"

#include <array>
#include <utility>

#include "core/rdma_events.h"
#include "core/text.h"

namespace qpscope {
namespace {

constexpr MetricDef kAsync{"qpscope_async_events_total", MetricType::counter,
                           "Asynchronous events of ib_core by their kernel name; port is empty for those of queue pairs before INIT, of other objects and of devices (BPF ib_core, ib_uverbs).",
                           LabelNames{"device", "port", "event"}};
constexpr MetricDef kCm{"qpscope_cm_events_total", MetricType::counter,
                        "What the connection manager told its users, and why: of a rejection the reason, of a failure the errno; device is empty where none was bound yet (BPF rdma_cm).",
                        LabelNames{"device", "event", "reason"}};
constexpr std::array<const MetricDef*, 2> kMetrics{&kAsync, &kCm};

HistoryKind kind_of(const AsyncEventRow& row) {
  switch (row.kind) {
    case AsyncKind::queue_pair: return row.fault ? HistoryKind::queue_pair_event : HistoryKind::queue_pair_notice;
    case AsyncKind::completion_queue: return HistoryKind::completion_queue_event;
    case AsyncKind::shared_receive_queue: return HistoryKind::shared_receive_queue_event;
    case AsyncKind::work_queue: return HistoryKind::work_queue_event;
    case AsyncKind::gid: return HistoryKind::gid_change;
    case AsyncKind::device: return HistoryKind::device_event;
    case AsyncKind::port: break;
  }
  return HistoryKind::port_event;
}

void name_process(HistoryEvent& out, const Owner& owner) {
  if (!owner.known || !owner.user) return;
  out.pid = owner.tgid.value ? owner.tgid : owner.tid;
  out.comm = owner.comm;
}

std::string what_of(const AsyncEvent& event) {
  if (event.qp) return "queue pair " + std::to_string(event.qp->qpn.value);
  const AsyncEventRow* row = async_event_row(event.event);
  const std::string number = event.number ? " " + std::to_string(*event.number) : std::string();
  if (row && row->kind == AsyncKind::completion_queue) return "CQ" + number;
  if (row && row->kind == AsyncKind::shared_receive_queue) return "SRQ" + number;
  if (row && row->kind == AsyncKind::work_queue) return "a WQ";
  return event.port.value ? "port " + std::to_string(event.port.value) : std::string("the device");
}

}  // namespace

MetricList kernel_event_metrics() { return kMetrics; }

void KernelEvents::on_async(const AsyncEvent& event, const QpRecord* qp, const Tenant* tenant) {
  std::string device = hooks_.device(event.device);
  if (device.empty()) return;
  const AsyncEventRow* row = async_event_row(event.event);
  // The state of the port tells of these (history_watch.h), and is told of them.
  if (event.event == kPortActive || event.event == kPortErr) {
    const std::lock_guard lock(mutex_);
    if (news_.size() < kMostNews) news_.push_back({.device = std::move(device), .port = event.port, .up = event.event == kPortActive, .at = event.at});
    return;
  }
  HistoryEvent out{.at = event.at, .device = std::move(device), .port = event.port};
  out.severity = !row || !row->fault ? Severity::info : Severity::error;
  out.message = safe_text(out.device) + ": " + async_event_name(event.event) + " of " + what_of(event);
  if (event.qp) {
    out.qpn = event.qp->qpn;
    out.port = event.qp->port;
  }
  name_process(out, event.owner);
  const HistoryKind kind = row ? kind_of(*row) : HistoryKind::port_event;
  if (!qp) return tell(kind, std::move(out), event.owner);
  out.remote_qpn = qp->remote_qpn;
  out.remote_gid = qp->remote_gid;
  if (tenant) {
    out.tenant = tenant->tenant;
    out.workload = tenant->workload;
  }
  history_.add(kind, event.at, [&] { return std::move(out); });
}

void KernelEvents::on_cm(const CmEvent& event) {
  const CmTone tone = cm_event_tone(event.event);
  if (tone == CmTone::step) return;  // counted only
  std::string device;
  if (event.device) {
    device = hooks_.device(*event.device);
    if (device.empty()) return;
  }
  HistoryEvent out{.at = event.at, .device = std::move(device)};
  if (event.qpn.value) out.qpn = event.qpn;
  const std::string reason = cm_reason(event.event, event.status);
  const std::string number = event.status > 0 ? " (" + std::to_string(event.status) + ")" : std::string();
  out.message = "connection " + (event.source.empty() ? "" : "from " + event.source + " ") + "to " + (event.destination.empty() ? "nobody yet" : event.destination) + ": " +
                cm_event_name(event.event) + (reason.empty() ? "" : ", " + reason + number);
  name_process(out, event.owner);
  tell(tone == CmTone::failure ? HistoryKind::connection_failed : HistoryKind::connection, std::move(out), event.owner);
}

// With the owner's tenant, which the resolver finds; without, where it has too much to do.
void KernelEvents::tell(HistoryKind kind, HistoryEvent&& event, const Owner& owner) {
  const BootTime at = event.at;
  const auto add = [this, kind, at](HistoryEvent&& one) { history_.add(kind, at, [&] { return std::move(one); }); };
  if (!owner.known) return add(std::move(event));
  auto kept = std::make_shared<HistoryEvent>(std::move(event));
  const bool asked = hooks_.whose(owner, at, [kept, add](const Owner& known, const Tenant& tenant) {
    kept->tenant = tenant.tenant;
    kept->workload = tenant.workload;
    name_process(*kept, known);
    add(std::move(*kept));
  });
  if (!asked) add(std::move(*kept));
}

std::vector<KernelEvents::PortNews> KernelEvents::take_port_news() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

SampleList kernel_event_samples(const std::vector<EventCount>& counts, const std::map<DeviceIndex, std::string>& devices) {
  std::map<std::pair<const MetricDef*, Labels>, double> sums;  // reasons may share a name
  for (const EventCount& one : counts) {
    const auto name = one.device ? devices.find(*one.device) : devices.end();
    if (one.device && name == devices.end()) continue;
    const std::string device = one.device ? name->second : std::string();
    if (one.kind == EventCount::Kind::cm) {
      sums[{&kCm, Labels{device, cm_event_name(one.event), cm_reason(one.event, one.status)}}] += static_cast<double>(one.count);
    } else {
      sums[{&kAsync, Labels{device, one.port.value ? std::to_string(one.port.value) : std::string(), async_event_name(one.event)}}] += static_cast<double>(one.count);
    }
  }
  SampleList out;
  for (const auto& [key, sum] : sums) out.push_back(sample(*key.first, key.second, sum));
  return out;
}

}  // namespace qpscope
