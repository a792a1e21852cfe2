// SPDX-License-Identifier: Apache-2.0
// How many queue pairs are in which state. Plain data.
#pragma once

#include <array>
#include <cstddef>

#include "core/qp_record.h"
#include "exporters/api/json.h"

namespace qpscope {

class QpStates {
 public:
  void add(const QpRecord& qp) {
    ++total_;
    if (qp.state) ++counts_.at(static_cast<std::size_t>(*qp.state));
  }
  std::size_t total() const { return total_; }
  // {"RTS": 12}: states that there are. Those of which nobody told yet are in the total alone.
  Json json() const {
    Json out = Json::object();
    for (unsigned n = 0; const auto state = qp_state_from_number(n); ++n) {
      if (counts_[n] > 0) out[std::string(to_string(*state))] = counts_[n];
    }
    return out;
  }

 private:
  std::size_t total_ = 0;
  std::array<std::size_t, static_cast<std::size_t>(QpState::err) + 1> counts_{};
};

}  // namespace qpscope
