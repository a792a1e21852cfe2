// SPDX-License-Identifier: Apache-2.0
#include "attributor.h"

#include <chrono>
#include <map>
#include <tuple>

#include "core/log.h"
#include "own_files.h"

namespace qpscope {
namespace {

constexpr std::chrono::milliseconds kPace{20};  // between two rounds: a burst of one process's queue pairs is one look at it
constexpr std::chrono::seconds kRetry{5};

// Owners that are asked about once in a round. Threads of a process may differ in comm, which a rule may look at.
auto group_of(const Owner& owner) { return std::tie(owner.tgid, owner.tid, owner.cgroup, owner.comm, owner.cgroup_path, owner.kern_name); }

}  // namespace

Attributor::Attributor(QpTable& table, DevxTable& devx, MemoryTable& memory, std::mutex& table_mutex, TenantMap& tenants, ClockFn now, LookUp look_up,
                       std::function<void()> done)
    : table_(table), devx_(devx), memory_(memory), table_mutex_(table_mutex), tenants_(tenants), now_(std::move(now)), look_up_(std::move(look_up)), done_(std::move(done)) {}

Attributor::~Attributor() {
  stop(0);
  if (thread_.joinable()) thread_.join();
}

void Attributor::pass() {
  std::vector<QpTable::Waiting> waiting, waiting_devx, waiting_memory;
  {
    const std::lock_guard lock(table_mutex_);
    waiting = table_.take_waiting();
    waiting_devx = devx_.take_waiting();
    waiting_memory = memory_.take_waiting();
  }
  struct Answer {
    std::shared_ptr<const Owner> owner;
    TenantId tenant;
    QpTable::Settled settled;
  };
  std::vector<Ask> asks;
  {
    const std::lock_guard lock(mutex_);
    asks.swap(asks_);
  }
  std::map<decltype(group_of(std::declval<const Owner&>())), Answer> answers;  // keys refer to owners that the lists hold
  const auto find = [&](const Owner& known, BootTime seen) -> const Answer& {
    auto [it, fresh] = answers.try_emplace(group_of(known));
    if (!fresh) return it->second;
    auto owner = std::make_shared<Owner>(look_up_(known, seen));
    TenantMap::Named named = tenants_.resolve(*owner, now_());
    owner->k8s_pod = std::move(named.k8s_pod);
    owner->k8s_container = std::move(named.k8s_container);
    return it->second = {std::move(owner), named.id, named.settled ? QpTable::Settled::yes : QpTable::Settled::no};
  };
  const auto answer = [&](const QpTable::Waiting& one, auto& table) {
    const Answer& found = find(*one.owner, one.seen);
    const std::lock_guard lock(table_mutex_);
    table.attribute(one.key, found.owner, found.tenant, found.settled);
  };
  for (const QpTable::Waiting& one : waiting) answer(one, table_);
  for (const QpTable::Waiting& one : waiting_devx) answer(one, devx_);
  for (const QpTable::Waiting& one : waiting_memory) answer(one, memory_);
  for (const Ask& one : asks) {
    const Answer& found = find(one.owner, one.seen);
    one.answer(*found.owner, tenants_.tenants()->at(found.tenant));
  }
  if (done_ && !waiting.empty()) done_();
}

void Attributor::start(std::vector<int> kept) {
  ended_ = false;
  thread_ = std::thread([this, kept = std::move(kept)] { run(kept); });
}

void Attributor::wake() {
  {
    const std::lock_guard lock(mutex_);
    if (work_) return;
    work_ = true;
    idle_ = false;
  }
  changed_.notify_all();
}

bool Attributor::ask(Owner owner, BootTime seen, AnswerFn answer) {
  {
    const std::lock_guard lock(mutex_);
    if (asks_.size() >= kMostAsks) return false;
    asks_.push_back({.owner = std::move(owner), .seen = seen, .answer = std::move(answer)});
  }
  wake();
  return true;
}

bool Attributor::stop(double wait_seconds) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, std::chrono::duration<double>(wait_seconds), [this] { return ended_; });
}

void Attributor::run(const std::vector<int>& kept) {
  if (!keep_only(kept)) log::debug("resolver: no descriptor table of its own");
  auto retry = std::chrono::steady_clock::now() + kRetry;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait_until(lock, retry, [this] { return work_ || stopping_; });
    if (stopping_) break;
    work_ = false;
    lock.unlock();
    if (std::chrono::steady_clock::now() >= retry) {
      const std::lock_guard table_lock(table_mutex_);
      table_.retry_unsettled();
      devx_.retry_unsettled();
      memory_.retry_unsettled();
      retry = std::chrono::steady_clock::now() + kRetry;
    }
    pass();
    lock.lock();
    idle_ = !work_;
    changed_.wait_for(lock, kPace, [this] { return stopping_; });
  }
  ended_ = true;
  changed_.notify_all();
}

}  // namespace qpscope
