// SPDX-License-Identifier: Apache-2.0
#include "reconcilers.h"

#include <algorithm>
#include <chrono>

#include "core/log.h"
#include "core/text.h"
#include "own_files.h"

namespace qpscope {
namespace {

constexpr std::chrono::seconds kTick{1};

// Once when it starts: what lasts is not told again.
class Trouble {
 public:
  void tell(const std::string& who, const Result<>& done) {
    const std::string now = done ? std::string() : who + "netlink: " + done.error().what;
    if (now == last_) return;
    last_ = now;
    if (now.empty()) return;
    const bool expected = done.error().code == ErrorCode::unsupported || done.error().code == ErrorCode::not_found;
    expected ? log::info(now) : log::warning(now);
  }

 private:
  std::string last_;
};

}  // namespace

// A device's reconciler and its thread.
class Reconcilers::Worker {
 public:
  Worker(Reconciler::Device device, std::unique_ptr<QpSource> source, Reconcilers& all)
      : source_(std::move(source)),
        ticked_(all.hooks_.ticked),
        reconciler_(std::move(device), *source_, all.table_, all.table_mutex_, all.self_check_, all.options_, all.device_hooks_) {}

  ~Worker() {
    request_stop();
    if (thread_.joinable()) thread_.join();
  }

  void start() {
    finished_ = false;
    thread_ = std::thread([this] { run(); });
  }

  Result<> tick() {
    Result<> done = reconciler_.tick();
    ticked_();
    seeded_ = reconciler_.seeded();  // last: by now it is known that owners are to be looked at
    return done;
  }

  // Ends at once where there is no thread.
  void request_stop() {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    wake_.notify_all();
    if (finished_) reconciler_.close();
  }

  bool finished_within(double seconds) {
    std::unique_lock lock(mutex_);
    return wake_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return finished_; });
  }

  Reconciler& reconciler() { return reconciler_; }
  const std::string& device() const { return reconciler_.device().name; }
  bool seeded() const { return seeded_ && reconciler_.seeded(); }

 private:
  void run() {
    // Stuck in the kernel, this thread must not hold the listening socket and the BPF links of the rest.
    if (!keep_only({})) log::debug(safe_text(device()) + ": netlink reader: no descriptor table of its own");
    Trouble trouble;
    while (true) {
      const Result<> done = tick();
      std::unique_lock lock(mutex_);
      if (!stop_) trouble.tell(safe_text(device()) + ": ", done);
      if (wake_.wait_for(lock, kTick, [this] { return stop_; })) break;
    }
    reconciler_.close();
    source_->close();
    const std::lock_guard lock(mutex_);
    finished_ = true;
    wake_.notify_all();
  }

  const std::unique_ptr<QpSource> source_;
  const std::function<void()> ticked_;
  Reconciler reconciler_;
  std::atomic<bool> seeded_ = false;
  std::mutex mutex_;  // guards the two below
  std::condition_variable wake_;
  bool stop_ = false, finished_ = true;
  std::thread thread_;
};

Reconcilers::Reconcilers(QpTable& table, std::mutex& table_mutex, SelfCheck& self_check, ReconcileOptions options, Reconciler::Hooks device_hooks, Hooks hooks)
    : table_(table),
      table_mutex_(table_mutex),
      self_check_(self_check),
      options_(options),
      device_hooks_(std::move(device_hooks)),
      hooks_(std::move(hooks)),
      source_(hooks_.source()) {}

Reconcilers::~Reconcilers() {
  stop(0);
  if (thread_.joinable()) thread_.join();
}

void Reconcilers::start(int kept) {
  ended_ = false;
  thread_ = std::thread([this, kept] { run(kept); });
}

Result<> Reconcilers::pass() {
  Result<> first = list(Start::no);
  for (const auto& [index, worker] : workers_) {
    Result<> done = worker->tick();
    if (!done && first) first = std::move(done);
  }
  return first;
}

void Reconcilers::run(int kept) {
  if (!keep_only({kept})) log::debug("netlink reader: no descriptor table of its own");
  Trouble trouble;
  while (true) {
    const Result<> done = list(Start::yes);
    trouble.tell({}, done);
    if (done && hooks_.listed) hooks_.listed(devices());
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, kTick, [this] { return stopping_; })) break;
  }
  source_->close();
  if (hooks_.ending) hooks_.ending();
  const std::lock_guard lock(mutex_);
  ended_ = true;
  wake_.notify_all();
}

Result<> Reconcilers::list(Start start) {
  auto found = source_->devices();
  std::vector<Reconciler::Device> present;
  if (found) {
    for (auto& [index, name] : *found) {
      if (hooks_.watched(name)) present.push_back({.index = index, .name = name, .budget = hooks_.budget(name)});
    }
  }
  std::vector<Worker*> gone;
  {
    const std::lock_guard lock(mutex_);
    listed_ = true;
    if (stopping_) return {};
    if (!found) return std::unexpected(std::move(found.error()));
    std::erase_if(retired_, [](const auto& worker) { return worker->finished_within(0); });
    for (auto it = workers_.begin(); it != workers_.end();) {
      const auto same = std::ranges::find(present, it->first, &Reconciler::Device::index);
      if (same != present.end() && same->name == it->second->device()) {
        ++it;
        continue;
      }
      // A device that only has another name keeps its queue pairs, and is seeded again.
      if (same == present.end()) gone.push_back(it->second.get());
      it->second->request_stop();
      retired_.push_back(std::move(it->second));
      it = workers_.erase(it);
    }
    for (Reconciler::Device& device : present) {
      if (workers_.contains(device.index)) continue;
      const DeviceIndex index = device.index;
      auto worker = std::make_unique<Worker>(std::move(device), hooks_.source(), *this);
      if (start == Start::yes) worker->start();
      workers_.emplace(index, std::move(worker));
    }
  }
  for (Worker* worker : gone) worker->reconciler().leave();
  return {};
}

std::vector<std::string> Reconcilers::stop(double wait_seconds) {
  const auto began = std::chrono::steady_clock::now();
  const auto left = [&] { return std::max(0.0, wait_seconds - std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count()); };
  std::vector<std::string> stuck;
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
    for (auto& [index, worker] : workers_) retired_.push_back(std::move(worker));
    workers_.clear();
    for (const auto& worker : retired_) worker->request_stop();
    if (!wake_.wait_for(lock, std::chrono::duration<double>(left()), [this] { return ended_; })) stuck.emplace_back("the listing of devices by netlink");
  }
  for (const auto& worker : retired_) {
    if (!worker->finished_within(left())) stuck.push_back(safe_text(worker->device()) + ": its netlink reader");
  }
  return stuck;
}

void Reconcilers::reseed() {
  const std::lock_guard lock(mutex_);
  for (const auto& [index, worker] : workers_) worker->reconciler().reseed();
}

bool Reconcilers::listed() const {
  const std::lock_guard lock(mutex_);
  return listed_;
}

bool Reconcilers::seeded() const {
  const std::lock_guard lock(mutex_);
  return listed_ && std::ranges::all_of(workers_, [](const auto& entry) { return entry.second->seeded(); });
}

std::map<DeviceIndex, std::string> Reconcilers::devices() const {
  const std::lock_guard lock(mutex_);
  std::map<DeviceIndex, std::string> out;
  for (const auto& [index, worker] : workers_) out.emplace(index, worker->device());
  return out;
}

}  // namespace qpscope
