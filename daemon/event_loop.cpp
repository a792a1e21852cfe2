// SPDX-License-Identifier: Apache-2.0
#include "event_loop.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <tuple>

#include "clock.h"
#include "core/log.h"

namespace qpscope {
namespace {

constexpr std::size_t kMostCounts = 4096;  // things that were counted, over all probe sets
constexpr std::chrono::milliseconds kPoll{500};  // how long a poll waits, and so how soon a module that comes or goes is noticed

EventLosses operator+(EventLosses a, const EventLosses& b) {
  a.ring_full += b.ring_full;
  a.recursion += b.recursion;
  a.kretprobe_missed += b.kretprobe_missed;
  a.decode += b.decode;
  return a;
}

// One for each thing that was counted.
std::vector<EventCount> sum(std::vector<EventCount> a, const std::vector<EventCount>& b) {
  const auto of = [](const EventCount& one) { return std::tie(one.kind, one.device, one.port, one.event, one.status); };
  for (const EventCount& one : b) {
    const auto same = std::ranges::find_if(a, [&](const EventCount& other) { return of(one) == of(other); });
    if (same == a.end()) {
      if (a.size() < kMostCounts) a.push_back(one);
    } else {
      same->count += one.count;
    }
  }
  return a;
}

}  // namespace

ProbeOptions probe_options(const BpfConfig& config) {
  // A site's own layouts go before those that came with us.
  return {.ring_bytes = static_cast<std::size_t>(config.ring_kib) * 1024, .layout_folders = {config.layouts, QPSCOPE_LAYOUTS}};
}

EventLoop::EventLoop(BpfConfig config, Sink sink, std::function<void()> closed)
    : config_(std::move(config)), sink_(std::move(sink)), closed_(std::move(closed)) {}

EventLoop::~EventLoop() { stop(); }

void EventLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    woken_.notify_all();
    if (probes_) probes_->stop();
  }
  if (thread_.joinable()) thread_.join();
  close("stopped");
}

void EventLoop::start() {
  if (!config_.enabled) {
    const std::lock_guard lock(mutex_);
    status_ = {{.probe = "all", .how = "off", .target = "", .reason = "bpf.enabled is false"}};
    return;
  }
  open();
  running_ = true;
  thread_ = std::thread([this] { live(); });
}

void EventLoop::open() {
  auto probes = ProbeSet::open(probe_options(config_), [this](Event&& event) { deliver(std::move(event)); });
  const std::lock_guard lock(mutex_);
  if (!probes) {
    status_ = {{.probe = "all", .how = "off", .target = "", .reason = probes.error().what}};
    log::warning("BPF is off: " + probes.error().what + "; queue pairs come from netlink alone");
    return;
  }
  probes_ = std::move(*probes);
  status_ = probes_->status();
  const auto attached = [this](std::string_view name) {
    return std::ranges::any_of(status_, [&](const ProbeStatus& one) { return one.probe == name && one.attached; });
  };
  queue_pair_events_ = attached("qp_create") && attached("qp_modify") && attached("qp_destroy");
  devx_events_ = std::ranges::all_of(status_, [](const ProbeStatus& one) { return !one.probe.starts_with("devx_") || one.attached || one.waiting; });
  ++openings_;
  for (const ProbeStatus& one : status_) {
    const std::string line = "probe " + one.probe + ": " + (one.attached ? one.how + " " + one.target : "off: " + one.reason);
    if (one.attached) {
      log::debug(line);
    } else if (one.waiting) {
      log::info(line);
    } else {
      log::warning(line);
    }
  }
}

void EventLoop::close(const std::string& reason) {
  std::unique_ptr<ProbeSet> old;
  {
    const std::lock_guard lock(mutex_);
    queue_pair_events_ = devx_events_ = false;
    if (!probes_) return;
    past_losses_ = past_losses_ + probes_->losses();
    past_counts_ = sum(std::move(past_counts_), probes_->counts());
    past_commands_ += probes_->commands();
    old = std::move(probes_);
  }
  // Before anybody is told that nothing is attached: that somebody waits for it.
  old.reset();
  const std::lock_guard lock(mutex_);
  for (ProbeStatus& one : status_) {
    one.attached = one.waiting = false;
    one.programs.clear();
    one.how = "off";
    one.reason = reason;
  }
}

std::string EventLoop::suspend(std::uint32_t seconds) {
  const std::lock_guard lock(mutex_);
  if (!running_) return "No probe is attached anyway.";
  suspended_until_ = after(boot_now(), seconds);
  if (probes_) probes_->stop();
  log::info("probes are taken off by request, for " + std::to_string(seconds) + " s at most");
  return "The probes are taken off. They come back in " + std::to_string(seconds) + " s, or with qpscope probes on.";
}

std::string EventLoop::resume() {
  const std::lock_guard lock(mutex_);
  if (!suspended_until_) return "The probes are not off by request.";
  suspended_until_ = boot_now();
  woken_.notify_all();
  return "The probes come back.";
}

std::optional<double> EventLoop::suspended() const {
  const std::lock_guard lock(mutex_);
  if (!suspended_until_) return std::nullopt;
  return std::max(0.0, seconds(*suspended_until_, boot_now()));
}

void EventLoop::condemn(const std::string& reason) {
  log::error("BPF is switched off: " + reason);
  const std::lock_guard lock(mutex_);
  condemned_ = reason;
  queue_pair_events_ = false;
  if (probes_) probes_->stop();
}

void EventLoop::live() {
  run();
  const std::lock_guard lock(mutex_);
  running_ = false;
  suspended_until_.reset();
}

void EventLoop::run() {
  while (!stop_) {
    ProbeSet* probes = nullptr;  // only this thread resets it
    std::string condemned;
    std::optional<BootTime> suspended;
    {
      const std::lock_guard lock(mutex_);
      probes = probes_.get();
      condemned = condemned_;
      suspended = suspended_until_;
    }
    if (!condemned.empty()) return close(condemned);
    if (suspended && probes) {
      close("by request (qpscope probes off)");
      closed_();
      continue;
    }
    if (suspended && boot_now() < *suspended) {
      std::unique_lock lock(mutex_);
      if (suspended == suspended_until_) woken_.wait_for(lock, kPoll);
      continue;
    }
    if (suspended) {
      open();
      const std::lock_guard lock(mutex_);
      // Somebody may have asked anew meanwhile.
      if (suspended == suspended_until_) suspended_until_.reset();
      continue;
    }
    if (!probes) return;
    if (probes->outdated()) {
      close("opening again, a module came or went");
      closed_();
      open();
      continue;
    }
    if (const auto polled = probes->poll(kPoll); !polled) {
      log::error("events cannot be read: " + polled.error().what + "; BPF is off");
      return close(polled.error().what);
    }
  }
}

void EventLoop::deliver(Event&& event) {
  counts_[event.index()].fetch_add(1, std::memory_order_relaxed);
  sink_(std::move(event));
}

void EventLoop::drain() {
  const std::lock_guard lock(mutex_);
  if (probes_) probes_->drain();
}

std::vector<ProbeStatus> EventLoop::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

EventLosses EventLoop::losses() const {
  const std::lock_guard lock(mutex_);
  const BootTime asked = boot_now();
  std::map<std::string, ProbeRuns, std::less<>> runs;
  const EventLosses now = probes_ ? past_losses_ + probes_->losses(&runs) : past_losses_;
  for (ProbeStatus& one : status_) {
    one.runs = {};
    for (const std::string& program : one.programs) {
      const ProbeRuns& of_program = runs[program];
      one.runs.runs += of_program.runs;
      one.runs.nanoseconds += of_program.nanoseconds;
      one.runs.missed += of_program.missed;
    }
  }
  losses_known_ = now.total();
  losses_asked_ = asked.value;
  return now;
}

FirmwareCommands EventLoop::commands() const {
  const std::lock_guard lock(mutex_);
  FirmwareCommands out = past_commands_;
  if (probes_) out += probes_->commands();
  return out;
}

std::map<std::string, std::uint64_t> EventLoop::counts() const {
  constexpr std::array<const char*, std::variant_size_v<Event>> names{"qp_created",     "qp_modified",    "qp_destroyed",
                                                                      "qp_call_failed", "cgroup_changed", "counter_released",
                                                                      "devx_object",    "async_event",    "cm_event"};
  std::map<std::string, std::uint64_t> out;
  for (std::size_t i = 0; i < names.size(); ++i) out[names[i]] = counts_[i].load(std::memory_order_relaxed);
  return out;
}

std::vector<EventCount> EventLoop::kernel_counts() const {
  const std::lock_guard lock(mutex_);
  return probes_ ? sum(past_counts_, probes_->counts()) : past_counts_;
}

}  // namespace qpscope
