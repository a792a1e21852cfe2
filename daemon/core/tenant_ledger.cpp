// SPDX-License-Identifier: Apache-2.0
#include "core/tenant_ledger.h"

#include <algorithm>
#include <utility>

namespace qpscope {
namespace {

template <class Map>
auto value_of(const Map& map, const typename Map::key_type& key) -> std::optional<typename Map::mapped_type> {
  const auto found = map.find(key);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

template <class Map>
typename Map::mapped_type* slot(Map& map, const PortCounter& counter) {
  const auto found = map.find(counter);
  if (found != map.end()) return &found->second;
  if (map.size() >= TenantLedger::kMostCounters) return nullptr;
  return &map[counter];
}

}  // namespace

TenantLedger::TenantLedger(const TenantImage& image) {
  for (const TenantImage::Account& one : image.accounts) {
    const auto accounts = accounts_.size();
    Account& account = insert({one.port, one.method, one.who});
    if (accounts_.size() == accounts) continue;  // twice in the image
    account = {.used = one.used, .totals = one.totals};
    for (const auto& [counter, total] : one.totals) ports_[one.port].credited[counter] += total;
  }
  for (const auto& [port, rest] : image.unattributed) ports_[port].unattributed = rest;
}

TenantLedger::Account& TenantLedger::insert(const AccountKey& key) {
  const auto [it, added] = accounts_.try_emplace(key);
  if (added) ++ports_[key.port].accounts[key.method];
  return it->second;
}

TenantLedger::Account* TenantLedger::open(const AccountKey& key, BootTime now) {
  const auto found = accounts_.find(key);
  if (found != accounts_.end()) return &found->second;
  if (key.who != kOtherTenants && ports_[key.port].accounts[key.method] >= kMost && !fold_oldest(key, now)) return nullptr;
  return &insert(key);
}

bool TenantLedger::fold_oldest(const AccountKey& newcomer, BootTime now) {
  auto oldest = accounts_.end();
  for (auto it = accounts_.lower_bound({newcomer.port, newcomer.method, {}}); it != accounts_.end(); ++it) {
    if (it->first.port != newcomer.port || it->first.method != newcomer.method) break;
    if (it->first.who != kOtherTenants && it->first.who != kEndedTenants && (oldest == accounts_.end() || it->second.used < oldest->second.used)) oldest = it;
  }
  if (oldest == accounts_.end() || seconds(now, oldest->second.used) < kKeepSeconds) return false;
  fold(oldest, kEndedTenants);
  return true;
}

void TenantLedger::fold(std::map<AccountKey, Account>::iterator account, const TenantKey& into) {
  const AccountKey key = account->first;
  Account& theirs = insert({key.port, key.method, into});
  for (const auto& [counter, total] : account->second.totals) {
    if (std::uint64_t* sum = slot(theirs.totals, counter)) *sum += total;
  }
  accounts_.erase(account);
  --ports_[key.port].accounts[key.method];
  changed_ = true;
}

void TenantLedger::expire(BootTime now) {
  for (auto it = accounts_.begin(); it != accounts_.end();) {
    const auto account = it++;
    const bool collective = account->first.who == kOtherTenants || account->first.who == kEndedTenants;
    if (!collective && seconds(now, account->second.used) >= kEndedSeconds) fold(account, kEndedTenants);
  }
}

void TenantLedger::credit(const std::string& port, const TenantKey& who, CreditMethod method, const PortCounter& counter, std::uint64_t events, BootTime now) {
  Account* account = open({port, method, who}, now);
  if (!account) account = open({port, method, kOtherTenants}, now);
  std::uint64_t* total = slot(account->totals, counter);
  std::uint64_t* sum = slot(ports_[port].credited, counter);
  if (!total || !sum) return;
  account->used = std::max(account->used, now);
  *total += events;
  *sum += events;
  changed_ = true;
}

void TenantLedger::balance(const std::string& port, const PortCounter& counter, std::uint64_t port_total) {
  const std::uint64_t given = credited(port, counter);
  std::uint64_t* rest = slot(ports_[port].unattributed, counter);
  if (!rest || port_total < given || port_total - given <= *rest) return;
  *rest = port_total - given;
  changed_ = true;
}

std::optional<TenantLedger::Mark> TenantLedger::mark(const std::string& port, const PortCounter& counter) const {
  const auto found = ports_.find(port);
  return found == ports_.end() ? std::nullopt : value_of(found->second.marks, counter);
}

void TenantLedger::mark(const std::string& port, const PortCounter& counter, Mark mark) {
  if (Mark* kept = slot(ports_[port].marks, counter)) *kept = mark;
}

std::uint64_t TenantLedger::credited(const std::string& port, const PortCounter& counter) const {
  const auto found = ports_.find(port);
  return found == ports_.end() ? 0 : value_of(found->second.credited, counter).value_or(0);
}

std::optional<std::uint64_t> TenantLedger::unattributed(const std::string& port, const PortCounter& counter) const {
  const auto found = ports_.find(port);
  return found == ports_.end() ? std::nullopt : value_of(found->second.unattributed, counter);
}

void TenantLedger::each(const std::string& port, const See& see) const {
  for (auto it = accounts_.lower_bound({port, CreditMethod::set, {}}); it != accounts_.end() && it->first.port == port; ++it) {
    for (const auto& [counter, total] : it->second.totals) see(it->first.who, it->first.method, counter, total);
  }
}

void TenantLedger::each_rest(const std::string& port, const SeeRest& see) const {
  const auto found = ports_.find(port);
  if (found == ports_.end()) return;
  for (const auto& [counter, rest] : found->second.unattributed) see(counter, rest);
}

bool TenantLedger::has_tenants(const std::string& port) const {
  const auto first = accounts_.lower_bound({port, CreditMethod::set, {}});
  return first != accounts_.end() && first->first.port == port;
}

bool TenantLedger::take_changed() { return std::exchange(changed_, false); }

TenantImage TenantLedger::image() const {
  TenantImage out;
  for (const auto& [key, account] : accounts_) out.accounts.push_back({key.port, key.who, key.method, account.used, account.totals});
  for (const auto& [name, port] : ports_) {
    if (!port.unattributed.empty()) out.unattributed.emplace(name, port.unattributed);
  }
  return out;
}

}  // namespace qpscope
