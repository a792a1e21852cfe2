// SPDX-License-Identifier: Apache-2.0
// A host with one port and two workloads, second by second, for the tests of what becomes of an incident.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/incident_triggers.h"
#include "core/text.h"
#include "support/fake_clock.h"

namespace qpscope::test {

struct MadeHost {
  static constexpr LabelNames kPort{"device", "port"};
  static constexpr MetricDef kTx{"qpscope_port_tx_bytes_total", MetricType::counter, "(test).", kPort};
  static constexpr MetricDef kErrors{"qpscope_port_completion_errors_total", MetricType::counter, "(test).", kPort.with("role", "kind")};
  static constexpr MetricDef kRetransmits{"qpscope_port_retransmits_total", MetricType::counter, "(test).", kPort.with("cause")};
  static constexpr MetricDef kTenantTx{"qpscope_tenant_tx_bytes_total", MetricType::counter, "(test).", LabelNames{"tenant", "workload", "device", "port", "method"}};
  static constexpr DeviceIndex kDevice{3};

  std::uint64_t second = 1000;
  double tx = 0, errors = 0, retransmits = 0, tenant_tx = 0;
  bool tenant_counted = false;
  std::vector<QpRecord> queue_pairs;
  std::vector<Tenant> tenants = make_tenants();
  FlightRecorder recorder;
  QpEndings endings;
  std::uint64_t seen = 0;
  std::shared_ptr<const Snapshot> snapshot;

  static std::vector<Tenant> make_tenants() {
    std::vector<Tenant> out(3);
    out[0].tenant = out[0].workload = "unknown";
    out[1].tenant = "physics";
    out[1].workload = "4711";
    out[2].tenant = "storage";
    out[2].workload = "<script>alert(1)</script>";
    return out;
  }

  BootTime now(double part = 0) const { return after(BootTime{second * kSecond}, part); }

  QpRecord qp(std::uint32_t qpn, TenantId tenant, QpState state = QpState::rts) const {
    QpRecord out;
    out.key = {kDevice, {qpn}};
    out.qpn = {qpn};
    out.port = {1};
    out.state = state;
    out.tenant = tenant;
    out.attributed = true;
    out.remote_qpn = Qpn{qpn + 1000};
    Gid gid{};
    gid.bytes[10] = gid.bytes[11] = 0xff;
    gid.bytes[12] = 192;
    gid.bytes[14] = 2;
    gid.bytes[15] = 7;
    out.remote_gid = gid;
    Owner owner;
    owner.known = owner.user = true;
    owner.tid = owner.tgid = {812};
    owner.comm = "python";
    out.owner = std::make_shared<const Owner>(std::move(owner));
    out.changed = {900 * kSecond};
    return out;
  }

  // A second passes, in which the port sent so much.
  void pass(double sent = 0) {
    tx += sent;
    ++second;
    auto next = std::make_shared<Snapshot>();
    next->at = now();
    SampleList samples{sample(kTx, {"mlx5_0", "1"}, tx), sample(kErrors, {"mlx5_0", "1", "requester", "transport_retries_exceeded"}, errors),
                       sample(kRetransmits, {"mlx5_0", "1", "sequence_nak"}, retransmits)};
    if (tenant_counted) samples.push_back(sample(kTenantTx, {"physics", "4711", "mlx5_0", "1", "sole_owner"}, tenant_tx));
    next->samples = {std::make_shared<const SampleList>(std::move(samples))};
    next->queue_pairs = std::make_shared<const std::vector<QpRecord>>(queue_pairs);
    next->tenants = std::make_shared<const std::vector<Tenant>>(tenants);
    next->devices = std::make_shared<const std::map<DeviceIndex, std::string>>(std::map<DeviceIndex, std::string>{{kDevice, "mlx5_0"}});
    auto status = std::make_shared<Status>();
    status->host = "node-a";
    status->version = "1.0";
    next->status = std::move(status);
    snapshot = std::move(next);
    recorder.take(snapshot->samples, snapshot->at);
  }
  void pass_many(std::size_t seconds, double sent) {
    for (std::size_t i = 0; i < seconds; ++i) pass(sent);
  }

  std::vector<Trigger> look(IncidentTriggers& triggers, std::vector<SharedEvent> events = {}, const IncidentTriggers::Silent& silent = {}) {
    const auto fresh = endings.since(seen);
    seen = fresh.newest;
    return triggers.look(*snapshot, recorder, fresh.endings, events, silent);
  }

  // A job whose port loses packets, until all its queue pairs end.
  Incident killed() {
    for (std::uint32_t qpn = 1; qpn <= 4; ++qpn) queue_pairs.push_back(qp(qpn, 1));
    queue_pairs.push_back(qp(9, 2));
    IncidentTriggers triggers({});
    pass_many(300, 1e8);
    endings.add(QpEnding::How::destroyed, qp(77, 2), now(0.1));  // an ordinary end, long before
    pass_many(120, 1e8);
    for (int i = 0; i < 10; ++i) {
      retransmits += 130;
      pass(3e7);
    }
    look(triggers);
    errors += 1;
    endings.add(QpEnding::How::found_in_error, qp(3, 1), now(0.2));
    endings.add(QpEnding::How::destroyed, qp(1, 1), now(0.25));
    endings.add(QpEnding::How::destroyed, qp(2, 1), now(0.26));
    endings.add(QpEnding::How::destroyed, qp(4, 1), now(0.27));
    queue_pairs.erase(queue_pairs.begin(), queue_pairs.begin() + 4);
    pass();
    Incident out{.id = "20261201T031502Z-queue_pair_deaths", .triggers = look(triggers), .wall_minus_boot = 1'796'000'000, .snapshot = nullptr, .window = {}, .endings = {}, .events = {}};
    pass_many(10, 0);
    out.snapshot = snapshot;
    out.window = recorder.window();
    out.endings = endings.since(0);
    return out;
  }
};

}  // namespace qpscope::test
