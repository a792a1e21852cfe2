// SPDX-License-Identifier: Apache-2.0
#include "set_binder.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "collectors/read_sets.h"

namespace qpscope {

SetBinder::SetBinder(const Host& host, std::string device, ClockFn now)
    : host_(host), device_(std::move(device)), now_(std::move(now)), netlink_(host.netlink(device_)) {}

template <class Call>
auto SetBinder::call(Books& books, const char* name, std::uint64_t commands, Call make) -> decltype(make()) {
  auto done = make();
  books.budget.spend(CommandBudget::Use::sets, commands, now_());
  ++calls_[{name, done ? std::string() : errno_name(done.error().sys_errno)}];
  return done;
}

Result<NlCounterMode> SetBinder::mode(PortNum port) { return netlink_->counter_mode(port); }

Result<> SetBinder::reread(Books& books, PortNum port) {
  const auto done = read_sets(host_, device_, *netlink_, port, books.ledger, now_);
  if (!done) return std::unexpected(done.error());
  books.budget.spend(CommandBudget::Use::sets, done->commands, now_());
  if (done->trouble) return std::unexpected(*done->trouble);
  return {};
}

Result<SetKey> SetBinder::bind_new(Books& books, const CountableQp& qp, const TenantKey& who, bool focus) {
  const BootTime asked = now_();
  const auto id = call(books, "bind_new", 2, [&] { return netlink_->bind_to_new_set(qp.port, qp.qpn); });
  if (!id) return std::unexpected(id.error());
  const SetKey key{qp.port, *id};
  books.ledger.sets().make({.key = key,
                            .ours = true,
                            .kernel = qp.kernel,
                            .who = who,
                            .focus = focus ? std::optional(qp.key) : std::nullopt,
                            .asked = asked,
                            .made = now_(),
                            .members = {qp.qpn},
                            .last = {},
                            .read_at = {},
                            .only = {},
                            .only_totals = {}});
  bound_[qp.key] = {key, qp.qpn};
  unverified_.push_back(qp.key);
  return key;
}

Result<> SetBinder::bind(Books& books, const CountableQp& qp, SetKey set) {
  const auto done = call(books, "bind", 1, [&] { return netlink_->bind_to_set(set.port, qp.qpn, set.id); });
  if (!done) return done;
  books.ledger.sets().join(set, qp.qpn);
  bound_[qp.key] = {set, qp.qpn};
  unverified_.push_back(qp.key);
  return {};
}

// ENOENT: no such queue pair or set; EINVAL: it is in another, or in none (core/counters.c rdma_counter_unbind_qpn).
bool SetBinder::not_bound(const Error& error) { return error.sys_errno == ENOENT || error.sys_errno == EINVAL; }

Result<> SetBinder::unbind(Books& books, Qpn qpn, SetKey set) {
  const auto done = call(books, "unbind", 1, [&] { return netlink_->unbind(set.port, qpn, set.id); });
  if (!done && !not_bound(done.error())) return done;
  books.ledger.sets().leave(set, qpn);
  std::erase_if(bound_, [&](const auto& entry) { return entry.second.set == set && entry.second.qpn == qpn; });
  return done;
}

void SetBinder::verify(Books& books) {
  if (unverified_.empty()) return;
  hear(books);
  for (const QpKey& key : std::exchange(unverified_, {})) {
    const auto found = bound_.find(key);
    if (found == bound_.end() || host_.queue_pairs->find(device_, key)) continue;
    const Bound bound = found->second;
    bound_.erase(found);
    if (const auto holder = host_.queue_pairs->holder(device_, bound.set.port, bound.qpn)) {
      if (const auto theirs = bound_.find(holder->key); theirs != bound_.end() && theirs->second.set == bound.set) continue;
    }
    // Also where nobody is known to hold the number: the next one may not have been told of, or has no tenant yet.
    if (unbind(books, bound.qpn, bound.set)) ++strangers_;
  }
}

void SetBinder::evict_strangers(Books& books) {
  std::map<QpKey, Bound> intruding;
  for (const PortNum port : books.ledger.sets().managed()) {
    for (const CounterSet* set : books.ledger.sets().sets(port)) {
      if (!set->ours) continue;
      for (const Qpn qpn : set->members) {
        const auto qp = host_.queue_pairs->holder(device_, port, qpn);
        if (qp && !qp->seeded && !bound_.contains(qp->key)) intruding[qp->key] = {set->key, qpn};
      }
    }
  }
  for (const auto& [key, one] : intruding) {
    // Two looks in a row, as a member that was read may be gone and its number another's.
    const auto before = intruding_.find(key);
    if (before == intruding_.end() || before->second.set != one.set || books.budget.room(CommandBudget::Use::sets, now_()) == 0) continue;
    if (unbind(books, one.qpn, one.set)) ++strangers_;
  }
  intruding_ = std::move(intruding);
}

void SetBinder::hear(Books& books) { hear_releases(*host_.queue_pairs, device_, books.ledger.sets(), books.ledger.tenants(), now_()); }

std::optional<SetKey> SetBinder::set_of(const SetBook& book, const CountableQp& qp) {
  auto found = bound_.find(qp.key);
  if (found == bound_.end()) {
    if (!qp.seeded) return std::nullopt;
    for (const CounterSet* set : book.sets(qp.port)) {
      if (set->ours && std::ranges::find(set->members, qp.qpn) != set->members.end()) return (bound_[qp.key] = {set->key, qp.qpn}).set;
    }
    return std::nullopt;
  }
  const CounterSet* set = book.find(found->second.set);
  return set && set->ours ? std::optional(set->key) : std::nullopt;
}

void SetBinder::forget_dead() {
  std::erase_if(bound_, [&](const auto& entry) { return !host_.queue_pairs->find(device_, entry.first); });
}

}  // namespace qpscope
