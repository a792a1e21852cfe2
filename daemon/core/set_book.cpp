// SPDX-License-Identifier: Apache-2.0
#include "core/set_book.h"

#include <algorithm>

namespace qpscope {
namespace {

constexpr std::uint64_t kRange32 = std::uint64_t{1} << 32;

std::uint64_t value_of(const CounterValues& values, std::size_t hint, const std::string& name) {
  if (hint < values.size() && values[hint].first == name) return values[hint].second;
  const auto found = std::ranges::find(values, name, &CounterValues::value_type::first);
  return found == values.end() ? 0 : found->second;
}

// What came to a counter of one set; nullopt: it is lower, and no wrap can be the reason.
std::optional<std::uint64_t> rise(std::uint64_t from, std::uint64_t to, CounterKind kind, double elapsed) {
  if (kind.bits != 32) return to >= from ? std::optional(to - from) : std::nullopt;
  const std::uint64_t step = (to - from) % kRange32;
  if (step < kRange32 / 2 || static_cast<double>(step) <= kFastestNic * elapsed) return step;
  return std::nullopt;
}

// The one tenant of all these queue pairs.
std::optional<TenantKey> common_tenant(PortNum port, const std::vector<Qpn>& members, const SetBook::WhoseQp& whose, bool& mixed) {
  std::optional<TenantKey> common;
  bool unknown = members.empty();
  for (const Qpn qpn : members) {
    const auto who = whose(port, qpn);
    unknown |= !who;
    mixed |= who && common && *who != *common;
    if (who) common = who;
  }
  return mixed || unknown ? std::nullopt : common;
}

}  // namespace

SetBook::SetBook(const SetImage& image) : managed_(image.managed), inherited_(image.managed), foreign_(image.foreign) {
  for (const SetImage::Set& one : image.sets) {
    sets_.emplace(one.key, CounterSet{.key = one.key, .ours = true, .kernel = one.kernel, .who = one.who, .focus = {}, .asked = {}, .made = {}, .members = {},
                                      .last = one.last, .read_at = {}, .only = {}, .only_totals = {}});
  }
}

void SetBook::manage(PortNum port) { changed_ |= managed_.insert(port).second; }

void SetBook::abandon(PortNum port) {
  changed_ |= managed_.erase(port) > 0;
  inherited_.erase(port);
  std::erase_if(foreign_, [&](const SetKey& key) { return key.port == port; });
}

void SetBook::make(CounterSet set) {
  const SetKey key = set.key;
  if (const auto old = sets_.find(key); old != sets_.end()) {
    retire(std::move(old->second), set.made);
    sets_.erase(old);
  }
  set.seen = true;
  set.only.reset();
  if (set.members.size() == 1) set.only = set.members.front();
  sets_.emplace(key, std::move(set));
  changed_ = true;
}

void SetBook::credit_to(SetKey key, const TenantKey& who) {
  const auto found = sets_.find(key);
  if (found == sets_.end()) return;
  found->second.who = who;
  changed_ = true;
}

void SetBook::join(SetKey key, Qpn qpn) {
  const auto found = sets_.find(key);
  if (found == sets_.end()) return;
  std::vector<Qpn> members = found->second.members;
  if (std::ranges::find(members, qpn) == members.end()) members.push_back(qpn);
  remember_members(found->second, members);
}

// A set with no member left is gone, but who else might have joined it only a reading tells.
void SetBook::leave(SetKey key, Qpn qpn) {
  const auto found = sets_.find(key);
  if (found != sets_.end()) std::erase(found->second.members, qpn);
}

void SetBook::remember_members(CounterSet& set, const std::vector<Qpn>& members) {
  set.members = members;
  if (set.only && (members.size() > 1 || (members.size() == 1 && members.front() != *set.only))) {
    set.only.reset();
    set.only_totals.clear();
  }
}

void SetBook::take(CounterSet& set, const CounterValues& values, BootTime now, TenantLedger& ledger) const {
  const double elapsed = set.read_at.value || set.made.value ? std::max(0.0, seconds(now, std::max(set.read_at, set.made))) : 0;
  const std::string port = std::to_string(set.key.port.value);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& [name, value] = values[i];
    const auto part = this->part(name);
    if (!part) continue;
    const std::uint64_t before = value_of(set.last, i, name), step = rise(before, value, part->kind, elapsed).value_or(0);
    // Of what is more than one to one the port's: by where the steps end, so that no rest is lost between two.
    if (set.who) ledger.credit(port, *set.who, CreditMethod::set, part->of, (before % part->per + step) / part->per, now);
    if (set.only) set.only_totals[name] += step;
  }
}

bool SetBook::plausible(const CounterSet& set, const CounterValues& values) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto part = this->part(values[i].first);
    if (part && !rise(value_of(set.last, i, values[i].first), values[i].second, part->kind, 0)) return false;
  }
  return true;
}

// A set that is not known: of another, or ours from before a crash.
void SetBook::adopt(SetKey key, const Row& row, BootTime to, TenantLedger& ledger, const WhoseQp& whose) {
  if (sets_.size() >= kMost) return;
  const bool read_before = ports_[key.port].read;
  CounterSet set{.key = key, .ours = inherited_.contains(key.port) && !foreign_.contains(key) && !row.automatic, .kernel = false, .who = {}, .focus = {},
                 .asked = {}, .made = {}, .members = row.members, .last = {}, .read_at = {}, .seen = true, .only = {}, .only_totals = {}};
  if (!set.ours && managed_.contains(key.port)) changed_ |= foreign_.insert(key).second;
  set.who = common_tenant(key.port, row.members, whose, set.mixed);
  if (row.members.size() == 1) set.only = row.members.front();
  // It began at 0 and all its life is known: since the last reading, or since a bind that was not saved any more.
  if (set.ours || read_before) {
    take(set, row.counters, to, ledger);
  } else if (set.only) {
    for (const auto& [name, value] : row.counters) {
      if (part(name)) set.only_totals[name] = value;
    }
  }
  set.last = row.counters;
  set.read_at = to;
  changed_ |= set.ours;
  sets_.emplace(key, std::move(set));
}

void SetBook::read(PortNum port, std::span<const Row> rows, bool complete, BootTime to, TenantLedger& ledger, const WhoseQp& whose) {
  std::set<SetKey> present;
  for (const Row& row : rows) {
    const SetKey key{port, row.id};
    if (!present.insert(key).second) continue;  // a dump repeats entries
    std::vector<std::string>& names = ports_[port].names;
    names.clear();
    for (const auto& [name, value] : row.counters) names.push_back(name);
    const auto found = sets_.find(key);
    // One that an earlier run knew by this id, and that is not it any more: as one that nobody knows.
    const bool other = found != sets_.end() && !found->second.seen && (row.automatic || !plausible(found->second, row.counters));
    if (other) {
      sets_.erase(found);
      ++missed_;
    }
    if (other || found == sets_.end()) {
      adopt(key, row, to, ledger, whose);
      continue;
    }
    CounterSet& set = found->second;
    if (!set.ours) {
      const auto who = set.mixed ? std::nullopt : common_tenant(port, row.members, whose, set.mixed);
      const bool same = who == set.who;
      if (!same) set.who.reset();  // for what came since the last reading
      take(set, row.counters, to, ledger);
      set.who = who;
    } else {
      // Its id may have been used again after the image was made, which its value does not always show: its members do.
      bool mixed = false;
      const auto who = set.seen || set.who == kOtherTenants ? std::nullopt : common_tenant(port, row.members, whose, mixed);
      if (who || mixed) set.who = who;
      take(set, row.counters, to, ledger);
    }
    remember_members(set, row.members);
    changed_ |= set.ours && set.last != row.counters;
    set.last = row.counters;
    set.read_at = to;
    set.seen = true;
  }
  if (!complete) return;
  for (auto it = sets_.lower_bound({port, {}}); it != sets_.end() && it->first.port == port;) {
    if (present.contains(it->first)) {
      ++it;
      continue;
    }
    retire(std::move(it->second), to);
    it = sets_.erase(it);
  }
  std::erase_if(foreign_, [&](const SetKey& key) { return key.port == port && !present.contains(key); });
  ports_[port].read = true;
  inherited_.erase(port);
}

void SetBook::retire(CounterSet set, BootTime since) {
  changed_ |= set.ours;
  // Its release was before this run, or nobody is credited with it: there is no last word to wait for.
  if (!set.seen) {
    ++missed_;
  } else if (gone_.size() < kMost) {
    gone_.push_back({std::move(set), since});
  } else {
    ++missed_;
  }
}

void SetBook::released(const CounterReleased& event, TenantLedger& ledger) {
  const SetKey key{event.port, {event.counter_id}};
  const auto say = [&](CounterSet& set) {
    std::vector<std::string> names;
    for (const auto& [name, value] : set.last) names.push_back(name);
    if (names.empty()) names = ports_[key.port].names;
    CounterValues values;
    for (const auto& value : event.values) {
      if (value && values.size() < names.size()) values.emplace_back(names[values.size()], *value);
    }
    if (values.empty()) ++missed_;  // nothing tells what its numbers mean
    take(set, values, event.at, ledger);
  };
  const auto current = sets_.find(key);
  auto it = std::ranges::find(gone_, key, [](const Gone& gone) { return gone.set.key; });
  while (it != gone_.end()) {
    // The next to have had the id: if that lived already, this one's word was lost on the way.
    const auto next = std::find_if(std::next(it), gone_.end(), [&](const Gone& gone) { return gone.set.key == key; });
    const BootTime taken = next != gone_.end() ? next->set.made : current != sets_.end() ? current->second.made : BootTime{};
    const bool lost = taken.value != 0 && event.at > taken;
    if (!lost) say(it->set);
    if (lost) ++missed_;
    gone_.erase(it);
    if (!lost) return;
    it = next;
  }
  if (current == sets_.end() || event.at < current->second.asked) return;
  say(current->second);
  changed_ |= current->second.ours;
  sets_.erase(current);
}

void SetBook::releases_lost() {
  missed_ += gone_.size();
  gone_.clear();
}

void SetBook::tick(BootTime now) {
  missed_ += std::erase_if(gone_, [&](const Gone& gone) { return seconds(now, gone.since) > kReleaseSeconds; });
}

bool SetBook::counts(PortNum port, const PortCounter& counter) const {
  const auto found = ports_.find(port);
  return found != ports_.end() && std::ranges::any_of(found->second.names, [&](const std::string& name) {
           const auto part = this->part(name);
           return part && part->of == counter;
         });
}

bool SetBook::known(PortNum port) const {
  const auto found = ports_.find(port);
  return found != ports_.end() && found->second.read;
}

bool SetBook::settled(PortNum port) const {
  if (!known(port)) return false;
  return std::ranges::none_of(gone_, [&](const Gone& gone) { return gone.set.key.port == port; }) &&
         std::ranges::all_of(sets(port), [](const CounterSet* set) { return !set->last.empty(); });
}

const CounterSet* SetBook::find(SetKey key) const {
  const auto found = sets_.find(key);
  return found == sets_.end() ? nullptr : &found->second;
}

std::vector<const CounterSet*> SetBook::sets(PortNum port) const {
  std::vector<const CounterSet*> out;
  for (auto it = sets_.lower_bound({port, {}}); it != sets_.end() && it->first.port == port; ++it) out.push_back(&it->second);
  return out;
}

void hear_releases(QpDirectory& directory, const std::string& device, SetBook& book, TenantLedger& ledger, BootTime now) {
  directory.catch_up();
  const QpDirectory::Released released = directory.take_released(device);
  for (const CounterReleased& event : released.events) book.released(event, ledger);
  if (released.lost || !directory.events_on()) book.releases_lost();
  book.tick(now);
}

bool SetBook::take_changed() { return std::exchange(changed_, false); }

SetImage SetBook::image() const {
  SetImage out{.sets = {}, .managed = managed_, .foreign = foreign_};
  for (const auto& [key, set] : sets_) {
    if (set.ours && set.who) out.sets.push_back({key, set.kernel, *set.who, set.last});
  }
  return out;
}

}  // namespace qpscope
