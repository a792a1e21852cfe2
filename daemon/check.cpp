// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <sys/capability.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "bpf/probe_set.h"
#include "event_loop.h"
#include "collectors/host/nldev.h"
#include "core/text.h"
#include "devices.h"

namespace qpscope {
namespace {

enum class Grade : std::uint8_t { ok, info, degraded };

class Table {
 public:
  void row(std::string what, Grade grade, std::string says) {
    degraded_ = degraded_ || grade == Grade::degraded;
    rows_.push_back({std::move(what), grade == Grade::ok ? "ok" : grade == Grade::info ? "-" : "DEGRADED", std::move(says)});
  }
  CheckReport report() const {
    std::array<std::size_t, 2> width{};
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < width.size(); ++i) width[i] = std::max(width[i], row[i].size());
    }
    CheckReport out{.degraded = degraded_};
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < width.size(); ++i) out.table += row[i] + std::string(width[i] - row[i].size() + 2, ' ');
      out.table += row[2] + "\n";
    }
    return out;
  }

 private:
  std::vector<std::array<std::string, 3>> rows_;
  bool degraded_ = false;
};

struct CapabilityUse {
  cap_value_t value;
  const char* name;
  const char* use;
};
constexpr std::array<CapabilityUse, 4> kCapabilities{{
    {CAP_BPF, "CAP_BPF", "load BPF programs"},
    {CAP_PERFMON, "CAP_PERFMON", "attach them to the kernel"},
    {CAP_SYS_ADMIN, "CAP_SYS_ADMIN", "trampolines in modules; without it kprobes are used"},
    {CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", "names of cgroups that vanished early"},
}};

bool held(cap_value_t capability) {
  cap_flag_value_t set = CAP_CLEAR;
  cap_t all = cap_get_proc();
  if (all) cap_get_flag(all, capability, CAP_EFFECTIVE, &set);
  if (all) cap_free(all);
  return set == CAP_SET;
}

void check_capabilities(Table& table) {
  for (const CapabilityUse& one : kCapabilities) {
    const bool ok = held(one.value);
    table.row("capability " + std::string(one.name), ok ? Grade::ok : Grade::info, ok ? one.use : "missing: " + std::string(one.use));
  }
}

void check_devices(Table& table, const Host& host) {
  const auto names = host.root.list("/sys/class/infiniband");
  if (names) {
    std::string list;
    for (const std::string& name : *names) list += (list.empty() ? "" : ", ") + safe_text(name);
    return table.row("devices", Grade::ok, std::to_string(names->size()) + (list.empty() ? "" : ": " + list));
  }
  const bool absent = names.error().code == ErrorCode::not_found;
  table.row("devices", absent ? Grade::info : Grade::degraded, absent ? "no RDMA device here (no sys/class/infiniband)" : names.error().what);
}

void check_netlink(Table& table) {
  auto nldev = Nldev::open();
  if (!nldev) return table.row("netlink", nldev.error().code == ErrorCode::unsupported ? Grade::info : Grade::degraded, nldev.error().what);
  const auto devices = nldev->devices();
  if (!devices) return table.row("netlink", Grade::degraded, devices.error().what);
  std::size_t queue_pairs = 0;
  for (const NlDevice& device : *devices) queue_pairs += nldev->queue_pair_count(device.index).value_or(0);
  table.row("netlink", Grade::ok, std::to_string(devices->size()) + " devices, " + std::to_string(queue_pairs) + " queue pairs");
}

std::pair<Grade, std::string> describe(const Result<NlCounterMode>& mode) {
  if (!mode) return {Grade::degraded, mode.error().what};
  switch (mode->kind) {
    case NlCounterMode::Kind::none: return {Grade::ok, "free"};
    case NlCounterMode::Kind::manual: return {Grade::info, "there are sets: those that another tool made stay as they are, and the port is not counted by tenant"};
    case NlCounterMode::Kind::automatic: break;
  }
  return {Grade::degraded, "somebody switched on an automatic mode, so the port is not counted by tenant (rdma statistic qp mode)"};
}

void check_counter_sets(Table& table, const Config& config) {
  if (config.counters.qp_mode != "tenant") return table.row("counter sets", Grade::info, "only read: counters.qp_mode is " + config.counters.qp_mode);
  if (!held(CAP_NET_ADMIN)) return table.row("counter sets", Grade::degraded, "counters.qp_mode is tenant, and CAP_NET_ADMIN is missing");
  auto nldev = Nldev::open();
  if (!nldev) return table.row("counter sets", Grade::degraded, nldev.error().what);
  const auto devices = nldev->devices();
  if (!devices) return table.row("counter sets", Grade::degraded, devices.error().what);
  for (const NlDevice& device : *devices) {
    if (!watched(config.devices, device.name)) continue;
    for (PortNum port{1}; port.value <= device.last_port; ++port.value) {
      const auto [grade, says] = describe(nldev->counter_mode(device.index, port));
      table.row("counter sets " + safe_text(device.name) + "/" + std::to_string(port.value), grade, says);
    }
  }
}

void check_probes(Table& table, const Config& config) {
  if (!config.bpf.enabled) return table.row("bpf", Grade::info, "off: bpf.enabled is false");
  const auto probes = ProbeSet::open(probe_options(config.bpf), [](Event&&) {});
  if (!probes) return table.row("bpf", Grade::degraded, probes.error().what);
  for (const ProbeStatus& one : (*probes)->status()) {
    const Grade grade = one.attached ? Grade::ok : one.waiting ? Grade::info : Grade::degraded;
    table.row("probe " + one.probe, grade, one.attached ? one.how + " " + one.target : one.reason);
  }
}

}  // namespace

CheckReport check(const Config& config, const Host& host, const std::string& config_source) {
  Table table;
  table.row("configuration", Grade::ok, config_source);
  table.row("root", Grade::ok, host.root.path());
  check_devices(table, host);
  if (host.live) {
    check_capabilities(table);
    check_netlink(table);
    check_counter_sets(table, config);
    check_probes(table, config);
  } else {
    table.row("netlink, bpf", Grade::info, "off: the root is not this machine's");
  }
  return table.report();
}

}  // namespace qpscope
