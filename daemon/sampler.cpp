// SPDX-License-Identifier: Apache-2.0
#include "sampler.h"

#include <algorithm>
#include <chrono>

#include "collectors/counter_folder.h"
#include "collectors/registry.h"
#include "core/log.h"
#include "core/text.h"
#include "own_files.h"

namespace qpscope {
namespace {

constexpr double kQuietSeconds = 2;   // well below what a 32-bit counter of a fast port may go unseen
constexpr double kYoungSeconds = 10;  // ports and counters are registered soon after their device

}  // namespace

DeviceSampler::DeviceSampler(const Host& host, DeviceLedger device, const SamplingConfig& config, Budgets& budgets, ClockFn now)
    : host_(host), device_(device.name), config_(config), budgets_(budgets), now_(std::move(now)) {
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
  thread_ = std::thread([this] { run(); });
}

void DeviceSampler::request_stop() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  wake_.notify_all();
}

bool DeviceSampler::finished_within(double seconds) {
  std::unique_lock lock(mutex_);
  return wake_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return finished_; });
}

DeviceSampler::State DeviceSampler::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
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
      shape_due.value = now.value + static_cast<std::uint64_t>((young ? config_.interval : config_.slow_interval) * 1e9);
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
      const auto step = static_cast<std::uint64_t>(slot->interval * 1e9);
      // On the grid, so that a slow pass does not shift all later ones; never twice in a row after a long stall.
      slot->due.value = std::max(slot->due.value + step, now.value + step / 2);
    }
    BootTime next = std::ranges::min_element(slots_, {}, &Slot::due)->due;
    next.value = std::max(next.value, now.value + static_cast<std::uint64_t>(wait * 1e9));
    std::unique_lock lock(mutex_);
    now = now_();
    const auto pause = std::chrono::nanoseconds(next.value > now.value ? next.value - now.value : 0);
    if (wake_.wait_for(lock, pause, [this] { return stop_; })) {
      for (Slot& slot : slots_) slot.collector.reset();  // their files are this thread's
      finished_ = true;
      wake_.notify_all();
      return;
    }
  }
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
  for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].interval = configured(slots_[i]) * (wanted[i] > parts[i] ? wanted[i] / parts[i] : 1);
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
  // Made here and not with the sampler: opening a file may hang just like reading it.
  if (!slot.collector) slot.collector = slot.row->make(host_, device_);
  const Result<> done = slot.collector->collect(reading);
  const BootTime ended = now_();
  slot.commands = static_cast<double>(reading.firmware_commands);
  fit_intervals();
  budget_->spend(CommandBudget::Use::sampling, reading.firmware_commands, ended);
  std::shared_ptr<const LedgerImage> image;
  // A quiet counter's time moves on too: a restart must not take the quiet for a gap.
  if (ledger_.take_changed() || seconds(ended, image_at_) >= kQuietSeconds) {
    image = std::make_shared<const LedgerImage>(ledger_.image());
    image_at_ = ended;
  }
  log_trouble(slot, done ? reading.trouble : done.error().what, done ? reading.troubles : 1);

  const std::lock_guard lock(mutex_);
  Output& output = state_.outputs[index];
  output.tried = true;
  output.success = done.has_value();
  output.duration = seconds(ended, began);
  if (done) {
    output.samples = std::make_shared<const SampleList>(std::move(reading.samples));
    output.last_success = ended;
  }
  state_.errors = errors_.counts();
  for (std::size_t i = 0; i < slots_.size(); ++i) state_.outputs[i].interval = slots_[i].interval;
  if (image) state_.ledger.image = std::move(image);
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
