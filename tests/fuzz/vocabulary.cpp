// SPDX-License-Identifier: Apache-2.0
// Names of drivers and counters, and of physical ports, as a hostile sysfs could have them: what a name means does not depend on how often
// it is asked for, every name is counted once, and what is exported is safe.
#include "collectors/vocabulary/vocabulary.h"

#include "collectors/known_counters.h"
#include "collectors/representor.h"
#include "core/text.h"
#include "fuzz/fuzz.h"
#include "support/utf8.h"

using namespace qpscope;
using fuzz::check;

namespace {

bool has_name(const CounterRow& row, std::string_view name) {
  if (row.counter.ends_with('*')) return name.starts_with(row.counter.substr(0, row.counter.size() - 1));
  if (row.counter.starts_with('*')) return name.ends_with(row.counter.substr(1));
  return name == row.counter || name == row.renames[0] || name == row.renames[1];
}

void check_name(std::string_view driver, std::string_view name, KnownCounters& known) {
  const CounterRow* row = hw_counter_row(driver, name);
  const std::string_view inner = is_of_representor(driver, name) ? name.substr(name.find('_') + 1) : name;
  check(!row || has_name(*row, name) || has_name(*row, inner), "a row is found by one of its names alone");
  const CounterRow* const first = known.find(name).row;
  const CounterRow* const second = known.find(name).row;
  check(first == row && second == row, "a name means the same each time");
  check(!row || !known.unmapped().contains(name), "a name with a row is not told as one without");
  check(!row || !row->shape.gauge || !row->family, "a level feeds no counter");
  if (!row || !row->family) return;
  const Sample sample = canonical_sample(*row, "device", "1", 1);
  check(sample.labels.size() == row->family->labels.count, "as many labels as their family has");
  for (const std::string_view label : sample.labels) check(is_plain(label), "labels of the vocabulary are plain");
}

void check_port_name(std::string_view name) {
  const auto found = parse_representor(name);
  if (!found) return;
  check(!found->pf.empty() && found->pf.find_first_not_of("0123456789") == std::string::npos, "a PF is a number");
  check(found->vf.find_first_not_of("0123456789") == std::string::npos && found->vf.size() <= 5, "a VF is a short number");
}

}  // namespace

// Lines; the first is the driver.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = fuzz::text_of(data, size);
  const std::string driver(fuzz::next_line(rest));
  KnownCounters known(driver);
  while (!rest.empty()) {
    const std::string_view name = fuzz::next_line(rest);
    check_name(driver, name, known);
    check_port_name(name);
    const std::string label = safe_text(name);
    check(test::clean_line(label) && label.size() <= kMaxText, "the label is safe");
  }
  return 0;
}
