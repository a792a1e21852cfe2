// SPDX-License-Identifier: Apache-2.0
#include "collectors/link_downs.h"

#include <algorithm>
#include <utility>

namespace qpscope {

void LinkDowns::saw(Reading& out, bool active) {
  const bool down = std::exchange(active_, active) && !active;
  saw_last_ = down && !source_ahead_;
  source_ahead_ = false;
  if (saw_last_) out.add_events(downs_, 1);
}

void LinkDowns::told(Reading& out, const std::string& source, std::uint64_t count) {
  const ObservedKey key{port_, "link_downs/" + source};
  const std::uint64_t last = out.ledger.observed(key).value_or(0), new_ones = count - std::min(last, count);
  const bool other = !out.ledger.observed(key) || (!source_.empty() && source_ != source);
  if (!out.ledger.observed(downs_)) out.add_events(downs_, count);
  const std::uint64_t total = out.ledger.observed(downs_).value_or(0), ours = total - out.ledger.observed(settled_).value_or(0);
  const bool late = std::exchange(source_behind_, false) && new_ones > 0;
  const std::uint64_t theirs = other ? 0 : new_ones - (late ? 1 : 0);
  source_ahead_ = theirs > ours;
  source_behind_ = ours > theirs && saw_last_;
  saw_last_ = false;
  source_ = source;
  out.add_events(downs_, source_ahead_ ? theirs - ours : 0);
  out.add_events(settled_, std::max(theirs, ours));
  out.add_events(key, new_ones);
}

}  // namespace qpscope
