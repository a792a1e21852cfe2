// SPDX-License-Identifier: Apache-2.0
// How full a port's line is: histograms of the byte rate between two passes over the line rate, so that a burst shorter than the
// time between two scrapes is still seen. One for each collector that yields canonical bytes; its thread's own.
//
// Only what two good samples of consecutive passes say is observed: nothing after an error, a reset, a saturated counter, a
// restart, nor while the line rate is not known (port_info reads it on the slow clock).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/collector.h"

namespace qpscope {

class Utilization {
 public:
  explicit Utilization(std::string device) : device_(std::move(device)) {}

  // The port's series of this family was read; if it is bytes, so many a second, where two good samples tell.
  void follow(Reading& out, const std::string& port, const MetricDef& family, std::optional<double> rate);
  // Ends the pass: every histogram goes on the page, whether this pass had something for it or not.
  void end_pass(Reading& out);

 private:
  struct Key {
    std::string port;
    const MetricDef* family;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  const std::string device_;
  std::map<Key, std::uint64_t> last_pass_;  // in which the bytes could be read
  std::uint64_t pass_ = 1;
};

}  // namespace qpscope
