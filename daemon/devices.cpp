// SPDX-License-Identifier: Apache-2.0
#include "devices.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "clock.h"
#include "collectors/counter_folder.h"
#include "collectors/missing_devices.h"
#include "core/log.h"
#include "core/text.h"

namespace qpscope {
namespace {

constexpr double kLookSeconds = 0.1;     // between two looks at a thread that gives counter sets back
constexpr std::size_t kMostAbsent = 64;  // devices that went away whose totals are kept

}  // namespace

bool watched(const DevicesConfig& config, const std::string& device) {
  const auto matches = [&](const std::string& pattern) { return fnmatch(pattern.c_str(), device.c_str(), 0) == 0; };
  return std::ranges::any_of(config.include, matches) && std::ranges::none_of(config.exclude, matches);
}

void Devices::scan(Start start) {
  auto names = host_.root.list("/sys/class/infiniband");
  const bool unlisted = !names && names.error().code != ErrorCode::not_found;
  if (unlisted && !unlisted_) log::warning("devices cannot be listed, those that are known stay: " + names.error().what);
  unlisted_ = unlisted;
  if (unlisted) return;
  if (!names) names = std::vector<std::string>();
  std::erase_if(*names, [&](const std::string& name) { return !watched(config_.devices, name); });
  if (names->empty() && !absence_logged_) log::info("no RDMA device here; one that appears is picked up");
  absence_logged_ = names->empty();

  const std::set<std::string_view> present(names->begin(), names->end());
  std::unique_lock lock(mutex_);
  // One that was registered anew is another, whatever its name: what is open belongs to the old one. Where it cannot be told now, it is the same.
  const auto gone = std::stable_partition(samplers_.begin(), samplers_.end(), [&](const auto& sampler) {
    if (!present.contains(sampler->device())) return false;
    return host_.root.identity(device_path(sampler->device())).value_or(sampler->identity()) == sampler->identity();
  });
  for (auto it = gone; it != samplers_.end(); ++it) {
    tell(HistoryKind::device_removed, (*it)->device(), "is gone");
    retire(std::move(*it));
  }
  samplers_.erase(gone, samplers_.end());
  lock.unlock();
  std::erase_if(retired_, [](const auto& sampler) { return sampler->finished_within(0); });

  std::set<std::string_view> known;
  for (const auto& sampler : samplers_) known.insert(sampler->device());
  for (const std::string& name : *names) {
    if (!known.contains(name)) add(name, *names, start);
  }
  expect(*names);
}

void Devices::expect(const std::vector<std::string>& names) {
  const BootTime now = boot_now();
  if (now < expected_due_) return;
  expected_due_ = after(now, config_.sampling.slow_interval);
  if (config_.devices.expected) {
    expected_ = config_.devices.expected;
  } else if (const auto missing = missing_devices(host_, names)) {
    expected_ = samplers_.size() + *missing;
  } else {
    expected_.reset();
  }
}

void Devices::tell(HistoryKind kind, const std::string& device, const char* what) {
  const std::string message = "device " + safe_text(device) + " " + what;
  log::info(message);
  const BootTime now = boot_now();
  history_.add(kind, now, [&] { return HistoryEvent{.at = now, .device = device, .message = message}; });
}

void Devices::add(const std::string& name, const std::vector<std::string>& present, Start start) {
  tell(HistoryKind::device_added, name, "found");
  const std::uint64_t identity = host_.root.identity(device_path(name)).value_or(0);  // first: if it is replaced meanwhile, the next scan sees it
  DeviceLedger device{.name = name, .guid = {}, .image = nullptr};
  // The kernel's own copy: a read that asks no hardware.
  const auto guid = host_.root.read_text(device_path(name) + "/node_guid");
  if (guid) {
    device.guid = trim(*guid).substr(0, kMaxText);
  } else {
    // It cannot be told now (it may be going while we look): that of the name is likelier than another card, and totals that start again
    // would be a lie.
    const auto same_name = std::ranges::find(absent_, name, &DeviceLedger::name);
    if (same_name != absent_.end()) device.guid = same_name->guid;
  }
  device.image = take_image(absent_, name, device.guid, [&](const std::string& other) { return std::ranges::find(present, other) != present.end(); });
  auto sampler = std::make_unique<DeviceSampler>(host_, std::move(device), config_, budgets_, boot_now, identity);
  if (start == Start::yes) sampler->start();
  const std::lock_guard lock(mutex_);
  samplers_.push_back(std::move(sampler));
}

void Devices::retire(std::unique_ptr<DeviceSampler> sampler) {
  sampler->request_stop();
  if (DeviceLedger ledger = sampler->state().ledger; ledger.image) {
    if (absent_.size() >= kMostAbsent) {
      log::info("totals of " + safe_text(absent_.front().name) + " are forgotten: too many devices went away");
      absent_.erase(absent_.begin());
    }
    absent_.push_back(std::move(ledger));
  }
  retired_.push_back(std::move(sampler));
}

DeviceSampler* Devices::find(const std::string& device) const {
  const auto found = std::ranges::find(samplers_, device, [](const auto& one) { return one->device(); });
  return found == samplers_.end() ? nullptr : found->get();
}

void Devices::look_again(const std::string& device) {
  if (DeviceSampler* sampler = find(device)) sampler->look_again();
}

void Devices::pass() {
  for (const auto& sampler : samplers_) sampler->pass();
}

std::vector<std::string> Devices::stop(double wait_seconds, double give_back_seconds) {
  std::vector<std::unique_ptr<DeviceSampler>> stopping;
  {
    const std::lock_guard lock(mutex_);
    stopping.swap(samplers_);
  }
  for (const auto* list : {&stopping, &retired_}) {
    for (const auto& sampler : *list) sampler->request_stop();
  }
  std::vector<std::string> stuck;
  const BootTime began = boot_now();
  const auto passed = [&] { return seconds(boot_now(), began); };
  for (const auto* list : {&stopping, &retired_}) {
    for (const auto& sampler : *list) {
      bool finished = sampler->finished_within(std::max(0.0, wait_seconds - passed()));
      while (!finished && sampler->giving_back() && passed() < give_back_seconds) finished = sampler->finished_within(kLookSeconds);
      if (!finished) stuck.push_back(sampler->device());
    }
  }
  // What they counted on their way out is in ledgers().
  for (const auto& sampler : stopping) absent_.push_back(sampler->state().ledger);
  std::ranges::move(stopping, std::back_inserter(retired_));
  return stuck;
}

void Devices::fill(Snapshot& snapshot) const {
  for (const auto& sampler : samplers_) {
    const DeviceSampler::State state = sampler->state();
    for (const DeviceSampler::Output& output : state.outputs) {
      if (!output.samples || stale(output, snapshot.at, config_.sampling.stale_after)) continue;  // its last success stays as a time stamp
      snapshot.samples.push_back(output.samples);
      if (!output.qp_counters) continue;
      for (const QpCounters& one : *output.qp_counters) snapshot.qp_counters.emplace(one.key, one);
    }
  }
}

Result<> Devices::focus_on(const std::string& device, Qpn qpn, double seconds) const {
  const std::lock_guard lock(mutex_);
  DeviceSampler* sampler = find(device);
  if (!sampler) return fail(ErrorCode::not_found, "no device " + safe_text(device) + " is watched");
  return sampler->focus_on(qpn, seconds);
}

void Devices::saved(const std::vector<DeviceLedger>& ledgers) {
  std::map<std::string_view, DeviceSampler*> by_name;
  for (const auto& sampler : samplers_) by_name.emplace(sampler->device(), sampler.get());
  for (const DeviceLedger& ledger : ledgers) {
    if (const auto sampler = by_name.find(ledger.name); sampler != by_name.end()) sampler->second->saved(ledger.image);
  }
}

std::vector<DeviceLedger> Devices::ledgers() const {
  std::vector<DeviceLedger> out = absent_;
  for (const auto& sampler : samplers_) out.push_back(sampler->state().ledger);
  return out;
}

bool Devices::sampled() const {
  return std::ranges::all_of(samplers_, [](const auto& sampler) { return std::ranges::all_of(sampler->state().outputs, &DeviceSampler::Output::tried); });
}

std::vector<std::pair<std::string, DeviceSampler::State>> Devices::states() const {
  std::vector<std::pair<std::string, DeviceSampler::State>> out;
  for (const auto& sampler : samplers_) out.emplace_back(sampler->device(), sampler->state());
  return out;
}

}  // namespace qpscope
