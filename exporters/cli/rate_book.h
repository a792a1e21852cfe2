// SPDX-License-Identifier: Apache-2.0
// Totals that are read now and then → rates over the last seconds. Pure; as large as what its last round was given.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

namespace qpscope::cli {

class RateBook {
 public:
  static constexpr double kWindow = 10;  // seconds

  // A round of readings of one moment: begin, any number of add, end. What a round does not have is forgotten.
  void begin(double unix_seconds);
  void add(const std::string& key, double total);
  void end();

  // Not known before the second reading, nor where a total fell.
  std::optional<double> rate(const std::string& key) const;

 private:
  struct Reading {
    double time, total;
  };
  double now_ = 0;
  std::map<std::string, std::deque<Reading>> readings_;
};

}  // namespace qpscope::cli
