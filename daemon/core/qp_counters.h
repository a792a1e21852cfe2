// SPDX-License-Identifier: Apache-2.0
// Hardware counters of one queue pair: there are some only while it is alone in a counter set. Plain data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/qp_record.h"

namespace qpscope {

struct QpCounters {
  QpKey key;
  std::vector<std::pair<std::string, std::uint64_t>> totals;  // by the kernel's name, since it is alone there
  BootTime moved;                                             // when one of them grew last, or was first seen
};
using SharedQpCounters = std::shared_ptr<const std::vector<QpCounters>>;

}  // namespace qpscope
