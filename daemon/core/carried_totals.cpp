// SPDX-License-Identifier: Apache-2.0
#include "core/carried_totals.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace qpscope {
namespace {

Histogram histogram_of(const HistogramValue& value) {
  Histogram out(value.bounds);
  out.counts = value.counts;
  out.sum = value.sum;
  return out;
}

// What is alike can be added up. Another version of the daemon may have had other bounds.
bool alike(double, double) { return true; }
bool alike(const Histogram& a, const Histogram& b) { return a.bounds == b.bounds; }

bool fell(double now, double before) { return now < before; }
bool fell(const Histogram& now, const Histogram& before) {
  for (std::size_t i = 0; i < now.counts.size(); ++i) {
    if (now.counts[i] < before.counts[i]) return true;
  }
  return false;
}

void add(double& to, double more) { to += more; }
void add(Histogram& to, const Histogram& more) {
  for (std::size_t i = 0; i < to.counts.size(); ++i) to.counts[i] += more.counts[i];
  to.sum += more.sum;
}

double nothing_like(double) { return 0; }
Histogram nothing_like(const Histogram& one) { return Histogram(one.bounds); }

}  // namespace

CarriedTotals::CarriedTotals(const SharedCarriedTotals& earlier) : totals_(earlier) {
  if (!earlier) return;
  for (const CarriedTotal& one : *earlier) {
    if (entries_.size() == kMost) break;
    Value none = std::visit([](const auto& value) { return Value(nothing_like(value)); }, one.value);
    entries_.insert_or_assign(Key{one.family, one.labels}, Entry{.base = one.value, .last = std::move(none), .seen = ++round_});
  }
}

void CarriedTotals::apply(SampleList& samples) {
  ++round_;
  std::vector<Sample*> newcomers;
  for (Sample& one : samples) {
    if (one.def->type == MetricType::gauge) continue;
    const auto found = entries_.find(KeyView{one.def->name, one.labels});
    if (found == entries_.end()) {
      newcomers.push_back(&one);
    } else if (found->second.seen != round_) {  // of two that are alike the page shows the first
      carry(found->second, one);
    }
  }
  make_room(newcomers.size());
  std::size_t refused = 0;
  for (Sample* one : newcomers) {
    if (entries_.size() == kMost) {
      ++refused;
      continue;
    }
    const auto [entry, added] = entries_.try_emplace(Key{std::string(one->def->name), one->labels});
    if (added) carry(entry->second, *one);
  }
  forgotten_ += refused - std::min(refused, refused_);
  refused_ = refused;
}

void CarriedTotals::carry(Entry& entry, Sample& sample) {
  const auto on = [&]<class T>(const T& now) {
    const T *base = std::get_if<T>(&entry.base), *last = std::get_if<T>(&entry.last);
    T total = base && alike(*base, now) ? *base : nothing_like(now);
    if (last && alike(*last, now) && fell(now, *last)) add(total, *last);
    changed_ |= entry.seen == 0 || !last || now != *last;
    entry = {.base = total, .last = now, .seen = round_};
    add(total, now);
    return total;
  };
  if (auto* histogram = std::get_if<HistogramValue>(&sample.value)) {
    Histogram total = on(histogram_of(*histogram));
    histogram->counts = std::move(total.counts);
    histogram->sum = total.sum;
  } else {
    double& value = std::get<double>(sample.value);
    value = on(value);
  }
}

void CarriedTotals::make_room(std::size_t newcomers) {
  if (entries_.size() + newcomers <= kMost) return;
  std::vector<decltype(entries_)::iterator> unseen;
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    if (it->second.seen != round_) unseen.push_back(it);
  }
  const std::size_t enough = std::min(unseen.size(), entries_.size() + newcomers - kMost);
  std::ranges::sort(unseen, {}, [](const auto& it) { return it->second.seen; });
  unseen.resize(enough);
  for (const auto& it : unseen) entries_.erase(it);
  forgotten_ += enough;
  changed_ |= enough > 0;
}

SharedCarriedTotals CarriedTotals::totals() {
  if (!std::exchange(changed_, false)) return totals_;
  std::vector<const decltype(entries_)::value_type*> by_age;
  for (const auto& entry : entries_) by_age.push_back(&entry);
  std::ranges::stable_sort(by_age, {}, [](const auto* entry) { return entry->second.seen; });
  std::vector<CarriedTotal> out;
  out.reserve(by_age.size());
  for (const auto* entry : by_age) {
    const auto& [key, one] = *entry;
    Value total = one.base;
    std::visit([&]<class T>(const T& last) { add(std::get<T>(total), last); }, one.last);
    out.push_back({key.family, key.labels, std::move(total)});
  }
  return totals_ = std::make_shared<const std::vector<CarriedTotal>>(std::move(out));
}

}  // namespace qpscope
