// SPDX-License-Identifier: Apache-2.0
// Test equipment: opens a ProbeSet, prints its status and then every event as one line, until SIGTERM, SIGINT or the
// given number of seconds. Last come the losses.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <variant>

#include "bpf/probe_set.h"
#include "core/rdma_events.h"
#include "core/text.h"

namespace qpscope {
namespace {

ProbeSet* g_set = nullptr;
volatile std::sig_atomic_t g_stopped = 0;

void on_signal(int) {
  g_stopped = 1;
  g_set->stop();
}

void print_qp(const char* kind, BootTime at, const QpIdentity& qp) {
  std::printf("%s time=%llu dev=%u serial=%llu qpn=%u type=%s port=%u tracked=%d", kind, static_cast<unsigned long long>(at.value),
              qp.device.value, static_cast<unsigned long long>(qp.serial.value), qp.qpn.value, to_string(qp.type).c_str(), qp.port.value,
              qp.tracked);
}

template <class Id>
void print_optional(const char* name, const std::optional<Id>& id) {
  if (id) std::printf(" %s=%u", name, id->value);
}
void print_optional(const char* name, const std::optional<std::uint32_t>& number) {
  if (number) std::printf(" %s=%u", name, *number);
}
void print_optional(const char* name, const std::optional<Gid>& gid) {
  if (gid) std::printf(" %s=%s", name, to_string(*gid).c_str());
}

struct Printer {
  void operator()(const QpCreated& e) const {
    print_qp(e.found ? "found" : "create", e.at, e.qp);
    const Owner& o = e.owner;
    std::printf(" known=%d user=%d tid=%u tgid=%u cgroup=%llu comm=%s kern=%s\n", o.known, o.user, o.tid.value, o.tgid.value,
                static_cast<unsigned long long>(o.cgroup.value), safe_text(o.comm).c_str(), safe_text(o.kern_name).c_str());
  }
  void operator()(const QpModified& e) const {
    print_qp("modify", e.at, e.qp);
    std::printf(" mask=%#x", e.mask);
    if (e.to) std::printf(" to=%.*s", static_cast<int>(to_string(*e.to).size()), to_string(*e.to).data());
    print_optional("rqpn", e.remote_qpn);
    print_optional("rgid", e.remote_gid);
    print_optional("lgid", e.local_gid);
    print_optional("rlid", e.remote_lid);
    print_optional("tclass", e.traffic_class);
    print_optional("mtu", e.path_mtu);
    print_optional("timeout", e.timeout);
    print_optional("retry", e.retry_cnt);
    print_optional("rnr", e.rnr_retry);
    std::printf("\n");
  }
  void operator()(const QpDestroyed& e) const {
    print_qp("destroy", e.at, e.qp);
    std::printf("\n");
  }
  void operator()(const QpCallFailed& e) const {
    constexpr const char* calls[] = {"create", "modify", "destroy"};
    std::printf("failed time=%llu dev=%u call=%s error=%s\n", static_cast<unsigned long long>(e.at.value), e.device.value,
                calls[static_cast<int>(e.call)], errno_name(e.error).c_str());
  }
  void operator()(const CgroupChanged& e) const {
    constexpr const char* whats[] = {"made", "renamed", "removed"};
    std::printf("cgroup time=%llu what=%s id=%llu path=%s\n", static_cast<unsigned long long>(e.at.value), whats[static_cast<int>(e.what)],
                static_cast<unsigned long long>(e.id.value), safe_text(e.path).c_str());
  }
  void operator()(const DevxObject& e) const {
    constexpr const char* kinds[] = {"qp", "dct", "sq", "rq"};
    std::printf("devx time=%llu dev=%u what=%s kind=%s number=%u handle=%llx known=%d tid=%u tgid=%u cgroup=%llu comm=%s\n",
                static_cast<unsigned long long>(e.at.value), e.device.value, e.what == DevxObject::What::created ? "created" : "destroyed",
                kinds[static_cast<int>(e.kind)], e.number.value, static_cast<unsigned long long>(e.handle.value), e.owner.known, e.owner.tid.value,
                e.owner.tgid.value, static_cast<unsigned long long>(e.owner.cgroup.value), safe_text(e.owner.comm).c_str());
  }
  void operator()(const AsyncEvent& e) const {
    std::printf("async time=%llu dev=%u port=%u event=%s qpn=%lld number=%lld tgid=%u comm=%s\n", static_cast<unsigned long long>(e.at.value), e.device.value, e.port.value,
                async_event_name(e.event).c_str(), e.qp ? static_cast<long long>(e.qp->qpn.value) : -1, e.number ? static_cast<long long>(*e.number) : -1, e.owner.tgid.value,
                safe_text(e.owner.comm).c_str());
  }
  void operator()(const CmEvent& e) const {
    std::printf("cm time=%llu event=%s status=%d qpn=%u source=%s destination=%s tgid=%u comm=%s\n", static_cast<unsigned long long>(e.at.value), cm_event_name(e.event).c_str(),
                e.status, e.qpn.value, e.source.c_str(), e.destination.c_str(), e.owner.tgid.value, safe_text(e.owner.comm).c_str());
  }
  // Values by their index, "-" where netlink has none.
  void operator()(const CounterReleased& e) const {
    std::printf("released time=%llu dev=%u port=%u id=%u truncated=%d values=", static_cast<unsigned long long>(e.at.value), e.device.value,
                e.port.value, e.counter_id, e.truncated);
    const char* comma = "";
    for (const auto& value : e.values) {
      std::printf("%s%s", comma, value ? std::to_string(*value).c_str() : "-");
      comma = ",";
    }
    std::printf("\n");
  }
};

// The limit, also when events never stop.
bool passed(std::chrono::steady_clock::time_point start, int seconds) {
  return std::chrono::steady_clock::now() - start >= std::chrono::seconds(seconds);
}

int run(const ProbeOptions& options, int seconds, bool quiet) {
  std::size_t events = 0;
  auto opened = ProbeSet::open(options, [&](Event&& event) {
    ++events;
    if (!quiet) std::visit(Printer{}, event);
  });
  if (!opened) {
    std::printf("error %s\n", opened.error().what.c_str());
    return 2;
  }
  ProbeSet& set = **opened;
  g_set = &set;
  std::signal(SIGTERM, on_signal);
  std::signal(SIGINT, on_signal);
  for (const auto& s : set.status()) {
    std::printf("probe %s how=%s target=%s attached=%d waiting=%d reason=%s\n", s.probe.c_str(), s.how.c_str(), s.target.c_str(),
                s.attached, s.waiting, s.reason.c_str());
  }
  std::printf("ready\n");
  std::fflush(stdout);
  const auto start = std::chrono::steady_clock::now();
  while (!g_stopped && !passed(start, seconds)) {
    const auto polled = set.poll(std::chrono::milliseconds(1000));
    std::fflush(stdout);
    if (!polled) return 1;
  }
  set.drain();
  const EventLosses lost = set.losses();
  std::printf("losses ring_full=%llu recursion=%llu kretprobe_missed=%llu decode=%llu events=%zu\n",
              static_cast<unsigned long long>(lost.ring_full), static_cast<unsigned long long>(lost.recursion),
              static_cast<unsigned long long>(lost.kretprobe_missed), static_cast<unsigned long long>(lost.decode), events);
  g_set = nullptr;
  return 0;
}

}  // namespace
}  // namespace qpscope

int main(int argc, char** argv) {
  qpscope::ProbeOptions options;
  int seconds = 3600;
  bool quiet = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--kprobes")
      options.trampolines = false;
    else if (argument == "--quiet")
      quiet = true;
    else if (argument == "--seconds" && i + 1 < argc)
      seconds = std::atoi(argv[++i]);
    else if (argument == "--ring" && i + 1 < argc)
      options.ring_bytes = std::strtoul(argv[++i], nullptr, 0);
    else if (argument == "--sys" && i + 1 < argc)
      options.sys_root = argv[++i];
    else {
      std::fprintf(stderr, "usage: qpscope-probe-dump [--kprobes] [--quiet] [--seconds N] [--ring BYTES] [--sys DIR]\n");
      return 2;
    }
  }
  return qpscope::run(options, seconds, quiet);
}
