// SPDX-License-Identifier: Apache-2.0
#include "status.h"

#include <algorithm>
#include <cstdint>

#include "core/text.h"
#include "version.h"

namespace qpscope {
namespace {

class Troubles {
 public:
  void add(Severity severity, std::string device, std::string what) {
    auto& list = severity == Severity::error ? errors_ : warnings_;
    if (list.size() < Status::kMostTroubles) list.push_back({severity, std::move(device), std::move(what)});
  }
  // The errors first.
  std::vector<Trouble> take() {
    const std::size_t room = Status::kMostTroubles - errors_.size();
    warnings_.resize(std::min(warnings_.size(), room));
    std::ranges::move(warnings_, std::back_inserter(errors_));
    return std::move(errors_);
  }

 private:
  std::vector<Trouble> errors_, warnings_;
};

std::string whole_seconds(double value) { return std::to_string(static_cast<std::uint64_t>(std::max(0.0, value))) + " s"; }

void look_at_device(Troubles& out, const std::string& device, const DeviceSampler::State& state, const StatusFacts& facts, const StatusNow& now) {
  for (const DeviceSampler::Output& one : state.outputs) {
    const std::string collector(one.collector);
    const double since = seconds(now.at, one.tried ? one.last_success : facts.started);
    if (one.tried && !one.success) {
      out.add(Severity::error, device, collector + ": " + one.trouble);
    } else if (stale(one, now.at, now.stale_after) && (one.tried || since > now.stale_after)) {
      out.add(Severity::error, device, collector + ": nothing was read for " + whole_seconds(since) + ", the device does not answer");
    } else if (one.troubles > 0) {
      out.add(Severity::warning, device, collector + ": " + std::to_string(one.troubles) + " of its values cannot be read; first: " + one.trouble);
    }
  }
}

void look_at_bpf(Troubles& out, const SelfView& self) {
  if (self.probes_back_seconds) out.add(Severity::warning, "", "the probes are off by request, for " + whole_seconds(*self.probes_back_seconds) + " more (qpscope probes on)");
  for (const ProbeStatus& one : self.probes) {
    if (one.attached || one.waiting || self.probes_back_seconds) continue;
    out.add(Severity::warning, "", one.probe == "all" ? "BPF is off: " + one.reason : "probe " + one.probe + " is off: " + one.reason);
  }
  if (const std::uint64_t lost = self.losses.total()) {
    out.add(Severity::warning, "", std::to_string(lost) + " BPF events were lost (qpscope_bpf_events_lost_total says why)");
  }
}

std::string bpf_reason(const SelfView& self, const StatusNow& now) {
  if (now.events_on) return {};
  if (!now.live) return "the root is not this machine's";
  const auto off = std::ranges::find_if(self.probes, [](const ProbeStatus& one) { return !one.attached; });
  return off == self.probes.end() ? std::string() : off->reason;
}

void add_probes(Status& out, const std::vector<ProbeStatus>& probes) {
  // A kernel that does not count runs says 0.
  const bool counted = std::ranges::any_of(probes, [](const ProbeStatus& one) { return one.runs.runs > 0; });
  if (counted) out.bpf_seconds = 0;
  for (const ProbeStatus& one : probes) {
    ProbeView& view = out.probes.emplace_back(ProbeView{.probe = one.probe, .feature = one.feature, .how = one.how, .reason = one.attached ? "" : one.reason,
                                                        .attached = one.attached, .waiting = one.waiting});
    if (!one.attached) continue;
    view.missed = one.runs.missed;
    if (!counted) continue;
    view.runs = one.runs.runs;
    view.run_seconds = static_cast<double>(one.runs.nanoseconds) / 1e9;
    *out.bpf_seconds += *view.run_seconds;
  }
}

std::string first_line(const Sysroot& root, const std::string& path) {
  const auto text = root.read_text(path);
  return text ? std::string(trim(*text)) : std::string();
}

}  // namespace

StatusFacts status_facts(const Sysroot& root, BootTime started) {
  return {.version = std::string(kVersion), .host = first_line(root, "/proc/sys/kernel/hostname"), .kernel = first_line(root, "/proc/sys/kernel/osrelease"),
          .started = started};
}

Status status_of(const StatusFacts& facts, const SelfView& self, const StatusNow& now) {
  Status out{.version = facts.version, .host = facts.host, .kernel = facts.kernel, .started = facts.started,
             .devices_found = self.devices_found, .devices_expected = self.devices_expected, .bpf = now.events_on, .bpf_reason = bpf_reason(self, now),
             .probes_back_seconds = self.probes_back_seconds, .probes = {}, .events = self.events, .losses = self.losses, .troubles = {}};
  add_probes(out, self.probes);
  out.cpu_seconds = self.process.cpu_seconds;
  out.resident_bytes = self.process.resident_bytes;
  if (!self.budgets.empty()) out.firmware_commands = 0;
  for (const auto& [device, budget] : self.budgets) *out.firmware_commands += budget->spent();

  Troubles troubles;
  if (self.devices_expected && *self.devices_expected > self.devices_found) {
    troubles.add(Severity::error, "", std::to_string(*self.devices_expected) + " RDMA devices are expected, " + std::to_string(self.devices_found) + " are here");
  }
  for (const auto& [device, state] : self.samplers) look_at_device(troubles, device, state, facts, now);
  look_at_bpf(troubles, self);
  if (now.live && self.state_saved == false) troubles.add(Severity::warning, "", "totals cannot be saved in /run/qpscope/state: a restart will not go on from them");
  if (self.tenant_overflows > 0) {
    troubles.add(Severity::warning, "", "there are more tenants and workloads than tenants.limit: " + std::to_string(self.tenant_overflows) + " owners became other/other");
  }
  if (now.left_out > 0) troubles.add(Severity::warning, "", "there are more ports than the rates of the last minutes have room for");
  out.troubles = troubles.take();
  return out;
}

}  // namespace qpscope
