// SPDX-License-Identifier: Apache-2.0
#include "sampler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "collectors/counter_folder.h"
#include "collectors/registry.h"
#include "core/log.h"
#include "core/text.h"
#include "own_files.h"

namespace qpscope {
namespace {

constexpr double kQuietSeconds = 2;   // well below what a 32-bit counter of a fast port may go unseen
constexpr double kGiveBackSeconds = 30;
constexpr std::chrono::milliseconds kGiveBackPause{50};
constexpr std::size_t kMostNotes = 64;
constexpr double kYoungSeconds = 10;  // ports and counters are registered soon after their device

}  // namespace

DeviceSampler::DeviceSampler(const Host& host, DeviceLedger device, const Config& config, Budgets& budgets, ClockFn now, std::uint64_t identity)
    : host_(host), device_(device.name), identity_(identity), config_(config.sampling), budgets_(budgets), now_(std::move(now)), saved_(device.image) {
  if (host.netlink && host.queue_pairs) sets_ = std::make_unique<CounterSets>(host, device_, config.counters, now_);
  if (device.image) ledger_ = CounterLedger(*device.image);
  state_.ledger = std::move(device);
  for (const CollectorRow* row : collector_rows()) {
    slots_.push_back({.row = row, .collector = nullptr, .due = {}});
    slots_.back().interval = configured(slots_.back());
    state_.outputs.push_back({.collector = row->name, .clock = row->clock, .interval = slots_.back().interval});
  }
}

DeviceSampler::~DeviceSampler() {
  request_stop();
  if (thread_.joinable()) thread_.join();
}

void DeviceSampler::start() {
  finished_ = false;
  // Only where something comes of it: a tenant that makes queue pairs all the time must not wake us for nothing.
  listening_ = sets_ && sets_->binds();
  if (listening_) host_.queue_pairs->on_news(device_, [this] { wake(); });
  thread_ = std::thread([this] { run(); });
}

void DeviceSampler::request_stop() {
  // Now and not at the thread's end: by then the device may be back, and another sampler be listening under its name.
  if (std::exchange(listening_, false)) host_.queue_pairs->on_news(device_, {});
  const std::lock_guard lock(mutex_);
  stop_ = true;
  wake_.notify_all();
}

void DeviceSampler::wake() {
  const std::lock_guard lock(mutex_);
  news_ = true;
  wake_.notify_all();
}

void DeviceSampler::look_again() {
  const std::lock_guard lock(mutex_);
  news_ = look_again_ = true;
  wake_.notify_all();
}

void DeviceSampler::saved(std::shared_ptr<const LedgerImage> image) {
  const std::lock_guard lock(mutex_);
  saved_ = std::move(image);
}

Result<> DeviceSampler::focus_on(Qpn qpn, double seconds) {
  if (!sets_) return fail(ErrorCode::unsupported, "no focus on single queue pairs: RDMA netlink is off here");
  const auto done = sets_->focus_on(qpn, seconds);
  wake();
  return done;
}

bool DeviceSampler::finished_within(double seconds) {
  std::unique_lock lock(mutex_);
  return wake_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return finished_; });
}

DeviceSampler::State DeviceSampler::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

DeviceLedger DeviceSampler::ledger() const {
  const std::lock_guard lock(mutex_);
  return state_.ledger;
}

void DeviceSampler::pass() {
  budget_ = budgets_.of(device_);
  for (std::size_t i = 0; i < slots_.size(); ++i) collect(slots_[i], i);
}

void DeviceSampler::run() {
  // Stuck in the kernel, this thread must not hold the listening socket and the BPF links of the rest.
  if (!keep_only({host_.root.descriptor()})) log::debug(safe_text(device_) + ": no descriptor table of its own");
  budget_ = budgets_.of(device_);
  const BootTime began = now_();
  BootTime shape_due{};
  while (true) {
    if (const BootTime now = now_(); shape_due <= now) {
      follow_shape();
      const bool young = seconds(now, began) < kYoungSeconds;
      shape_due = after(now, young ? config_.interval : config_.slow_interval);
    }
    double wait = 0;  // for the firmware budget
    BootTime now = now_();
    for (Slot* slot = nullptr; (slot = most_overdue(now)); now = now_()) {
      wait = budget_->seconds_to_wait(CommandBudget::Use::sampling, now);
      if (wait > 0) {
        budget_->put_off();
        break;
      }
      collect(*slot, static_cast<std::size_t>(slot - slots_.data()));
      // One grid for all collectors of all devices: a thread wakes once a second and not once for each, what it needs of the caches the one
      // before has just used, and a slow pass does not shift all later ones.
      slot->due = next_on_grid({}, slot->interval, now);
    }
    const bool more = drive_sets();
    BootTime next = std::ranges::min_element(slots_, {}, &Slot::due)->due;
    next = std::max(next, after(now, wait));
    std::unique_lock lock(mutex_);
    now = now_();
    const auto pause = std::chrono::nanoseconds(next.value > now.value && !more ? next.value - now.value : 0);
    wake_.wait_for(lock, pause, [this] { return stop_ || news_; });
    news_ = false;
    if (std::exchange(look_again_, false)) {
      for (Slot& slot : slots_) slot.due = slot.row->clock == Clock::slow ? now_() : slot.due;
      shape_due = {};
    }
    if (stop_) {
      lock.unlock();
      give_sets_back();
      lock.lock();
      for (Slot& slot : slots_) slot.collector.reset();  // their files are this thread's
      finished_ = true;
      wake_.notify_all();
      return;
    }
  }
}

bool DeviceSampler::drive_sets() {
  if (!sets_) return false;
  std::set<PortNum> saved;
  {
    const std::lock_guard lock(mutex_);
    if (saved_) saved = saved_->sets.managed;
  }
  const bool more = sets_->act(ledger_, *budget_, saved);
  keep_ledger();
  SampleList samples = sets_->samples();
  const std::lock_guard lock(mutex_);
  state_.sets = std::move(samples);
  return more;
}

// What is not given back in time stays in the state file for the next start.
void DeviceSampler::give_sets_back() {
  if (!sets_) return;
  const BootTime began = now_();
  giving_back_ = ledger_.sets().any_managed();
  while (giving_back_ && host_.root.exists(device_path(device_)) && seconds(now_(), began) < kGiveBackSeconds) {
    if (sets_->give_back(ledger_, *budget_)) break;
    keep_ledger();
    std::this_thread::sleep_for(kGiveBackPause);
  }
  keep_ledger();
  sets_->close();
  giving_back_ = false;
}

void DeviceSampler::keep_ledger() {
  auto image = new_image();
  if (!image) return;
  const std::lock_guard lock(mutex_);
  state_.ledger.image = std::move(image);
}

// Null: there is nothing new.
std::shared_ptr<const LedgerImage> DeviceSampler::new_image() {
  const BootTime now = now_();
  // A quiet counter's time moves on too: a restart must not take the quiet for a gap.
  if (!ledger_.take_changed() && seconds(now, image_at_) < kQuietSeconds) return nullptr;
  image_at_ = now;
  return std::make_shared<const LedgerImage>(ledger_.image());
}

// Null: none is due.
DeviceSampler::Slot* DeviceSampler::most_overdue(BootTime now) {
  const auto first = std::ranges::min_element(slots_, {}, &Slot::due);
  return first->due <= now ? &*first : nullptr;
}

// By what the last passes have cost: a collector that would pass the budget is run less often, the cheap ones stay as they are.
void DeviceSampler::fit_intervals() {
  std::vector<double> wanted;
  for (const Slot& slot : slots_) wanted.push_back(slot.commands / configured(slot));
  const std::vector<double> parts = fair_parts(wanted, budget_->assured(CommandBudget::Use::sampling));
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const double within_budget = configured(slots_[i]) * (wanted[i] > parts[i] ? wanted[i] / parts[i] : 1);
    slots_[i].interval = std::max(within_budget, slots_[i].rest);
  }
}

// Ports and counters that come after the device, or change with its driver: every collector is made again.
void DeviceSampler::follow_shape() {
  std::string shape = device_shape(host_, device_);
  if (shape == shape_) return;
  shape_ = std::move(shape);
  for (Slot& slot : slots_) slot.collector.reset();
}

void DeviceSampler::collect(Slot& slot, std::size_t index) {
  const BootTime began = now_();
  Reading reading{.samples = {}, .errors = errors_, .ledger = ledger_, .now = now_};
  if (const auto& before = state_.outputs[index].samples) reading.samples.reserve(before->size());  // nobody else writes it
  // Made here and not with the sampler: opening a file may hang just like reading it.
  if (!slot.collector) slot.collector = slot.row->make(host_, device_);
  const Result<> done = slot.collector->collect(reading);
  const BootTime ended = now_();
  slot.commands = static_cast<double>(reading.firmware_commands);
  slot.rest = reading.rest;
  if (sets_ && reading.firmware_commands > 0) sets_->commands_took((seconds(ended, began) - reading.waited) / slot.commands);
  fit_intervals();
  budget_->spend(CommandBudget::Use::sampling, reading.firmware_commands, ended);
  auto image = new_image();
  log_notes(slot, reading.notes);
  log_trouble(slot, done ? reading.trouble : done.error().what, done ? reading.troubles : 1);

  const std::lock_guard lock(mutex_);
  Output& output = state_.outputs[index];
  output.tried = true;
  output.success = done && !reading.lost;
  output.duration = seconds(ended, began);
  output.rest = slot.rest;
  output.trouble = done ? std::move(reading.trouble) : done.error().what;
  output.troubles = done ? reading.troubles : 1;
  if (done) {
    output.samples = std::make_shared<const SampleList>(std::move(reading.samples));
    output.qp_counters = reading.qp_counters.empty() ? nullptr : std::make_shared<const std::vector<QpCounters>>(std::move(reading.qp_counters));
  }
  if (output.success) output.last_success = ended;
  state_.errors = errors_.counts();
  for (std::size_t i = 0; i < slots_.size(); ++i) state_.outputs[i].interval = slots_[i].interval;
  if (image) state_.ledger.image = std::move(image);
}

void DeviceSampler::log_notes(const Slot& slot, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    if (said_.size() == kMostNotes || !said_.insert(note).second) continue;
    log::info(safe_text(device_) + ": " + std::string(slot.row->name) + ": " + safe_message(note));
  }
}

// Once when it starts and once when it ends: the rest is in qpscope_read_errors_total.
void DeviceSampler::log_trouble(Slot& slot, const std::string& trouble, std::size_t troubles) {
  const bool troubled = troubles > 0;
  if (troubled == slot.troubled) return;
  // A device that was removed fails everywhere until the next scan says that it is gone.
  if (troubled && !host_.root.exists(device_path(device_))) return;
  slot.troubled = troubled;
  const std::string who = safe_text(device_) + ": " + std::string(slot.row->name);
  if (troubled) {
    log::warning(who + ": " + std::to_string(troubles) + " of its values could not be read and are left out (qpscope_read_errors_total counts on); first: " + trouble);
  } else {
    log::info(who + ": everything can be read again");
  }
}

}  // namespace qpscope
