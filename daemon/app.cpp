// SPDX-License-Identifier: Apache-2.0
#include "app.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "clock.h"
#include "core/log.h"
#include "core/text.h"
#include "notify.h"
#include "self.h"

namespace qpscope {
namespace {

constexpr double kStopSeconds = 1;  // for threads to leave the kernel
constexpr double kGiveBackSeconds = 32;  // for those that give counter sets back: a little more than they take at most
constexpr double kAliveSeconds = 1;  // between two signs of life before it is ready
constexpr std::uint64_t kStartPollNs = 50'000'000;
constexpr double kAfterSamplers = 0.1;  // of an interval
constexpr double kFirstSampleSeconds = 2;  // a device that hangs, or has very many queue pairs, must not keep the others from being ready
constexpr double kNetlinkSeconds = 10;     // the same where netlink does not even list the devices

std::string count_of(std::size_t n, const char* noun) { return std::to_string(n) + " " + noun + (n == 1 ? "" : "s"); }

// Before those that will be given: none of an earlier run is as great, unless there were more than one a microsecond.
std::uint64_t first_event_id() { return static_cast<std::uint64_t>((static_cast<double>(boot_now().value) / 1e9 + wall_minus_boot()) * 1e6); }

// Devices of which something is being read for long, and for how long.
IncidentTriggers::Silent silent_devices(const Devices::States& samplers, BootTime now) {
  IncidentTriggers::Silent out;
  for (const auto& [device, state] : samplers) {
    double longest = 0;
    for (const DeviceSampler::Output& one : state.outputs) {
      // One that failed did answer.
      if (one.clock == Clock::fast && one.success) longest = std::max(longest, seconds(now, one.last_success) - one.interval);
    }
    if (longest > 1) out.emplace_back(device, longest);
  }
  return out;
}

std::function<std::unique_ptr<Ethtool>()> ethtool_of(const Sysroot& root) {
  if (root.live()) return kernel_ethtool;
  return [&root] { return text_ethtool(root); };
}

}  // namespace

App::App(Config config, Sysroot root)
    : config_(std::move(config)),
      root_(std::move(root)),
      host_{.root = root_,
            .live = root_.live(),
            .netlink = root_.live() ? &device_netlink : nullptr,
            .ethtool = ethtool_of(root_),
            .dcb = root_.live() ? &kernel_dcb : nullptr,
            .queue_pairs = nullptr,
            .ownership = nullptr},
      budgets_(host_, static_cast<double>(config_.budget.firmware_commands_per_second)),
      history_(std::make_shared<EventHistory>(first_event_id())),
      watch_(root_.live()),
      devices_(host_, config_, budgets_, *history_),
      tracker_(host_, config_, budgets_, *history_),
      incidents_(config_.recorder, root_, *history_, {.endings = [this](std::uint64_t after) { return tracker_.endings(after); }, .wall_minus_boot = wall_minus_boot}),
      pages_(store_, {.qp_limit = config_.exporters.prometheus.qp_limit,
                      .series_limit = config_.exporters.prometheus.series_limit,
                      .ready = [this] { return ready_.load(); },
                      .api = {.wall_minus_boot = wall_minus_boot, .now = boot_now, .actions = {.focus = [this](const FocusRequest& wanted) { return focus(wanted); },
                                                                                              .record = [this](const std::string& reason) { return incidents_.request(reason); },
                                                                                              .probes = [this](const ProbesRequest& wanted) { return set_probes(wanted); }}}}) {
  facts_ = status_facts(root_, boot_now());
  if (!root_.live()) return;
  host_.queue_pairs = &tracker_;
  host_.ownership = &tracker_.ownership();
}

Result<> App::run() {
  // First the door: an occupied port is found before anything is loaded into the kernel.
  auto http = HttpServer::start({.listen = config_.exporters.prometheus.listen, .allow = config_.api.allow, .hosts = config_.api.hosts},
                                [this](const HttpRequest& request) { return pages_.answer(request); });
  if (!http) return std::unexpected(std::move(http.error()));
  http_ = std::move(*http);
  bool goes_on = false;
  if (root_.exists("/run")) {
    state_.emplace(root_);
    StateImage kept = state_->load();
    goes_on = !kept.devices.empty();
    devices_.take_over(std::move(kept.devices));
    carried_ = CarriedTotals(kept.own);
    open_api_socket();
  }
  incidents_.start(root_.descriptor());
  tracker_.start();

  tell_started(goes_on);

  const BootTime began = boot_now();
  while (true) {
    look();
    const bool seeded = tracker_.seeded();  // before the question who owns the seeds
    const bool settled = ready_ || (devices_.sampled() && seeded && tracker_.attributed()) || seconds(boot_now(), began) > kFirstSampleSeconds;
    publish();
    // Not on every look before it is ready: the manager's socket takes few messages that it has not read.
    if (const BootTime now = boot_now(); ready_ || seconds(now, told_alive_) >= kAliveSeconds) {
      told_alive_ = now;
      notify::alive();
    }
    if (ready_) {
      notify::status(status_line());
    } else if (settled && (tracker_.started() || seconds(boot_now(), began) > kNetlinkSeconds)) {
      ready_ = true;
      log::info("ready on port " + std::to_string(http_->port()) + ": " + status_line());
      notify::ready(status_line());
    }
    // A little after the samplers, whose grid it is: their samples are new and still in the caches. Until ready, look often.
    const BootTime due = ready_ ? next_on_grid(after({}, config_.sampling.interval * kAfterSamplers), config_.sampling.interval, boot_now())
                                : BootTime{boot_now().value + kStartPollNs};
    while (boot_now() < due) {
      const DeviceWatch::Woken woken = watch_.wait(due);
      if (woken.signal) {
        log::info(std::string("stopping on ") + (woken.signal == SIGTERM ? "SIGTERM" : "SIGINT"));
        stop();
        return {};
      }
      if (!woken.news) continue;
      for (const std::string& device : woken.netdevs) devices_.look_again(device);
      look();
      publish();
    }
  }
}

void App::tell_started(bool goes_on) {
  history_->add(HistoryKind::daemon, facts_.started, [&] {
    return HistoryEvent{.at = facts_.started, .message = "qpscoped " + facts_.version + " started; totals " + (goes_on ? "go on from the run before" : "begin anew")};
  });
}

void App::look() {
  devices_.scan(Devices::Start::yes);
  watch_.devices(devices_.size());
}

// Without it the daemon is none the poorer for Prometheus.
void App::open_api_socket() {
  auto socket = ApiSocket::open(root_);
  const Result<> served = socket ? http_->serve_socket(socket->release()) : std::unexpected(socket.error());
  if (!served) return log::warning("no unix socket, so the qpscope command cannot ask this daemon: " + served.error().what);
  api_socket_.emplace(std::move(*socket));
}

void App::publish() {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->sequence = ++sequence_;
  snapshot->at = boot_now();
  Devices::States samplers = devices_.states();
  devices_.fill(*snapshot, samplers);
  const IncidentTriggers::Silent silent = silent_devices(samplers, snapshot->at);
  incidents_.gather();
  error_watch_.look(snapshot->samples, snapshot->at, tracker_.suspicions());
  SampleList own = tracker_.fill(*snapshot);
  SelfView self{.devices_found = devices_.size(), .devices_expected = devices_.expected(), .samplers = std::move(samplers),
                .tenant_overflows = tracker_.tenant_overflows(), .totals_forgotten = carried_.forgotten(), .suspicions_dropped = tracker_.suspicions().dropped(), .budgets = budgets_.all(), .state_saved = std::nullopt,
                .wall_minus_boot = wall_minus_boot(), .process = process_cost()};
  if (const EventLoop* events = tracker_.events()) {
    self.losses = events->losses();
    self.probes_back_seconds = events->suspended();  // before the status: what is off is not told as if by itself
    self.probes = events->status();                  // with the runs that were asked for with the losses
    self.events = events->counts();
    std::vector<std::string> names;
    for (const auto& [name, state] : self.samplers) names.push_back(name);
    std::ranges::move(firmware_watch_.look(events->commands(), names, snapshot->at), std::back_inserter(own));
    self.others_commands = firmware_watch_.others();
  }
  std::ranges::move(self_samples(self), std::back_inserter(own));
  std::ranges::move(watch_.samples(), std::back_inserter(own));
  port_history_->take(snapshot->samples, snapshot->at);
  history_watch_.look(*snapshot, self.probes, tracker_.kernel_events().take_port_news());
  std::ranges::move(history_->samples(), std::back_inserter(own));
  std::ranges::move(incidents_.samples(), std::back_inserter(own));
  carry(own);
  // Before anybody sees the totals: what was shown once is never taken back.
  if (state_) self.state_saved = save();
  snapshot->samples.push_back(std::make_shared<const SampleList>(std::move(own)));
  snapshot->samples.push_back(std::make_shared<const SampleList>(lasting_samples(self)));
  snapshot->status = std::make_shared<const Status>(status_of(facts_, self, {.at = snapshot->at, .live = root_.live(), .events_on = tracker_.events_on(),
                                                                             .stale_after = config_.sampling.stale_after, .left_out = port_history_->left_out()}));
  snapshot->port_history = port_history_;
  snapshot->events = history_;
  incidents_.look(snapshot, silent);
  store_.publish(std::move(snapshot));
}

bool App::save() {
  const std::vector<DeviceLedger> ledgers = devices_.ledgers();
  if (!state_->save(ledgers, carried_.totals())) return false;
  devices_.saved(ledgers);
  return true;
}

// Counters of this run become those of all runs of this boot.
void App::carry(SampleList& own) {
  const bool before = carried_.forgotten() > 0;
  carried_.apply(own);
  if (!before && carried_.forgotten() > 0) {
    log::warning("more than " + std::to_string(CarriedTotals::kMost) +
                 " series of our own: a restart will not go on from some (qpscope_series_forgotten_total counts on)");
  }
}

// On a thread of the HTTP server.
Result<std::string> App::focus(const FocusRequest& wanted) {
  const auto done = devices_.focus_on(wanted.device, wanted.qpn, wanted.seconds);
  if (!done) return std::unexpected(done.error());
  return "queue pair " + std::to_string(wanted.qpn.value) + " of " + wanted.device + " gets a counter set of its own, if there is room: see qpscope_qp_hw_counters_total";
}

// On a thread of the HTTP server.
Result<std::string> App::set_probes(const ProbesRequest& wanted) {
  EventLoop* events = tracker_.events();
  if (!events) return fail(ErrorCode::unsupported, "no probe is attached anyway");
  return wanted.attached ? events->resume() : events->suspend(wanted.seconds);
}

void App::stop() {
  notify::stopping();
  http_.reset();
  api_socket_.reset();
  const BootTime began = boot_now();
  bool stuck = false;
  for (const std::string& device : devices_.stop(kStopSeconds, kGiveBackSeconds)) {
    stuck = true;
    log::warning(safe_text(device) + ": its reader is stuck in the kernel and is left behind");
  }
  // What was given back, and the last word of every set.
  if (state_) save();
  if (!incidents_.stop(kStopSeconds)) {
    stuck = true;
    log::warning("the writer of incidents is stuck in the kernel and is left behind");
  }
  for (const std::string& thread : tracker_.stop(std::max(0.1, kStopSeconds - seconds(boot_now(), began)))) {
    stuck = true;
    log::warning(thread + " is stuck in the kernel and is left behind");
  }
  if (stuck) _exit(0);  // destructors would wait for the thread
}

std::string App::status_line() const {
  return count_of(devices_.size(), "device") + ", " + count_of(store_.latest()->queue_pairs->size(), "queue pair") +
         (tracker_.events_on() ? ", BPF on" : ", BPF off: queue pairs from netlink alone");
}

// Until no device is overdrawn.
double App::budget_wait() const {
  double wait = 0;
  for (const auto& [device, budget] : budgets_.all()) wait = std::max(wait, budget->seconds_to_wait(CommandBudget::Use::sampling, boot_now()));
  return wait;
}

std::string App::once(unsigned samples, double interval) {
  devices_.scan(Devices::Start::no);
  for (unsigned i = 0; i < samples; ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::duration<double>(std::max(interval, budget_wait())));
    devices_.pass();
    if (const auto done = tracker_.pass(); !done) log::info("netlink: " + done.error().what);
  }
  publish();
  return pages_.metrics(*store_.latest());
}

}  // namespace qpscope
