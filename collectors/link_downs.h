// SPDX-License-Identifier: Apache-2.0
// How often a port's link went down, as one number from two witnesses: we, who see the state now and then and miss what is shorter
// than that, and a hardware source, which counts but may stick at its maximum or not take notice of the logical state. In each
// interval between two reads of the source the total grows by the greater of the two.
//
// The two are not read at one moment: a link that goes down in between shows in one of them now and in the other only in its next
// read. So what one had more than the other is forgiven the other in that next read, once: no flap counts twice.
//
// The total is the device's (Reading::add_events); here is only what is not worth keeping. Its thread's own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/collector.h"

namespace qpscope {

class LinkDowns {
 public:
  explicit LinkDowns(const std::string& port) : port_(port), downs_{port, "link_downs"}, settled_{port, "link_downs/settled"} {}

  // The state has been read.
  void saw(Reading& out, bool active);
  // The source has been read; `count` is our total of it, which never falls. Another source than before counts from here on, and
  // the first of all gives the total its start.
  void told(Reading& out, const std::string& source, std::uint64_t count);
  std::optional<double> total(Reading& out) const { return out.add_events(downs_, 0); }

 private:
  const std::string port_;
  const ObservedKey downs_;     // the total
  const ObservedKey settled_;   // the total when the source was last read: what is above is ours alone so far
  std::string source_;          // that told last
  bool active_ = false;         // as last seen
  bool saw_last_ = false;       // the last look before the source is read next saw the link go down
  bool source_ahead_ = false;   // the source told of more than we saw: the next look may be late
  bool source_behind_ = false;  // our last look saw more than the source told of: its next read may be late
};

}  // namespace qpscope
