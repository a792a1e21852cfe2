// SPDX-License-Identifier: Apache-2.0
#include "collectors/vocabulary/vocabulary.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "collectors/vocabulary/families.h"
#include "collectors/vocabulary/tables.h"

namespace qpscope {
namespace {

constinit const DriverTable kQedrTable{"qedr", "hw/qedr/main.c: no counters of its own; its counters/ cannot be read", {}};
constinit const DriverTable kSiwTable{"siw", "sw/siw/siw_main.c: no counters", {}};

// clang-format off: tables are read in columns
constexpr std::array<const DriverTable*, 15> kTables{
    &kBnxtReTable, &kPortCountersTable, &kCxgb4Table, &kEfaTable,  &kErdmaTable, &kHfi1Table, &kHnsTable, &kIonicTable,
    &kIrdmaTable,  &kManaTable,         &kMlx4Table,  &kMlx5Table, &kQedrTable,  &kRxeTable,  &kSiwTable,
};

// What a device's driver link says, or its module where there is none → the RDMA driver. The one place that knows.
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"bnxt_en", "bnxt_re"}, {"cxgb4", "cxgb4"},    {"efa", "efa"},    {"erdma", "erdma"},  {"hfi1", "hfi1"},   {"hns3", "hns"},
    {"i40e", "irdma"},      {"ice", "irdma"},      {"idpf", "irdma"}, {"ionic", "ionic"},  {"irdma", "irdma"}, {"mana", "mana"},
    {"mlx4_core", "mlx4"},  {"mlx5_core", "mlx5"}, {"qede", "qedr"},  {"rdma_rxe", "rxe"}, {"siw", "siw"},
};
// clang-format on

// Levels by their name, on drivers and kernels that nobody has read.
constexpr CounterRow kGuesses[] = {
    {"active_*", {}, Unit::objects, kGauge, nullptr, {}, "A level by its name."},
    {"current_rate", {}, Unit::unknown, kGauge, nullptr, {}, "A level by its name."},
    {"watermark_*", {}, Unit::objects, kGauge, nullptr, {}, "A level by its name."},
};

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return name.ends_with(pattern.substr(1));
}

class Index {
 public:
  explicit Index(std::span<const CounterRow> rows, std::string_view representor_prefix = {}) : prefix_(representor_prefix) {
    for (const CounterRow& row : rows) {
      if (row.family) families_.insert(row.family);
      if (row.counter.starts_with('*') || row.counter.ends_with('*')) {
        patterns_.push_back(&row);
        continue;
      }
      exact_.emplace(row.counter, &row);
      for (const std::string_view other : row.renames) {
        if (!other.empty()) exact_.emplace(other, &row);
      }
    }
  }

  const CounterRow* find(std::string_view name) const {
    if (is_of_representor(name)) {
      const CounterRow* row = find_exact(name.substr(prefix_.size()));
      if (row && row->shape.kind == kWraps32) return row;
    }
    if (const CounterRow* row = find_exact(name)) return row;
    const auto pattern = std::ranges::find_if(patterns_, [&](const CounterRow* row) { return matches(row->counter, name); });
    return pattern == patterns_.end() ? nullptr : *pattern;
  }
  bool is_of_representor(std::string_view name) const { return !prefix_.empty() && name.starts_with(prefix_); }
  bool feeds(const MetricDef* family) const { return families_.contains(family); }

 private:
  const CounterRow* find_exact(std::string_view name) const {
    const auto found = exact_.find(name);
    return found == exact_.end() ? nullptr : found->second;
  }

  std::string_view prefix_;
  std::unordered_map<std::string_view, const CounterRow*> exact_;
  std::vector<const CounterRow*> patterns_;  // the first that matches holds
  std::set<const MetricDef*> families_;
};

// By what driver_of() says. Of an unknown driver it is empty.
const Index& index_of(std::string_view driver) {
  static const std::unordered_map<std::string_view, Index> all = [] {
    std::unordered_map<std::string_view, Index> out;
    for (const auto& [link, name] : kAliases) {
      const DriverTable& table = **std::ranges::find(kTables, name, &DriverTable::driver);
      out.emplace(link, Index(table.rows, table.representor_prefix));
    }
    return out;
  }();
  static const Index none{{}};
  const auto found = all.find(driver);
  return found == all.end() ? none : found->second;
}

const Index& port_counters() {
  static const Index all(kPortCountersTable.rows);
  return all;
}

const CounterRow* with_family(const CounterRow* row) { return row && row->family ? row : nullptr; }

}  // namespace

const CounterRow* hw_counter_row(std::string_view driver, std::string_view counter) { return index_of(driver).find(counter); }
const CounterRow* port_counter_row(std::string_view counter) { return port_counters().find(counter); }

const CounterRow* hw_counter_meaning(std::string_view driver, std::string_view counter) { return with_family(hw_counter_row(driver, counter)); }

const CounterRow* port_counter_meaning(std::string_view driver, std::string_view counter) {
  const CounterRow* row = with_family(port_counter_row(counter));
  return row && index_of(driver).feeds(row->family) ? nullptr : row;
}

const CounterRow* counter_meaning(std::string_view driver, const PortCounter& counter) {
  if (counter.source != "hw_counters") return port_counter_meaning(driver, counter.name);
  return is_of_representor(driver, counter.name) ? nullptr : hw_counter_meaning(driver, counter.name);
}

bool is_of_representor(std::string_view driver, std::string_view counter) { return index_of(driver).is_of_representor(counter); }

CounterShape hw_counter_shape(std::string_view driver, std::string_view counter) {
  static const Index guesses(kGuesses);
  const CounterRow* row = hw_counter_row(driver, counter);
  if (!row) row = guesses.find(counter);
  return row ? row->shape : k64;
}

CounterKind port_counter_kind(std::string_view counter, bool extended) {
  const CounterRow* row = port_counter_row(counter);
  if (!row) return kWide;
  return row->shape.extended_only && !extended ? saturating(32) : row->shape.kind;
}

void append_labels(const CounterRow& meaning, std::vector<std::string>& labels) {
  for (std::string_view rest = meaning.label; !rest.empty();) {
    const auto slash = rest.find('/');
    labels.emplace_back(rest.substr(0, slash));
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  }
}

Labels canonical_labels(const CounterRow& meaning, const std::string& device, const std::string& port) {
  std::vector<std::string> labels{device, port};
  append_labels(meaning, labels);
  return labels;
}

Sample canonical_sample(const CounterRow& meaning, const std::string& device, const std::string& port, double value) {
  return sample(*meaning.family, canonical_labels(meaning, device, port), value);
}

std::span<const DriverTable* const> driver_tables() { return kTables; }

}  // namespace qpscope
