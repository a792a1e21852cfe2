// SPDX-License-Identifier: Apache-2.0
// What counter sets of queue pairs count, and of which counter of the port it is a part.
//
// mlx5: a set holds Q counters, which bear the port's names; congestion counters are listed in it and stay 0
// (mlx5_ib_counter_update_stats). From Linux 6.15 it may have the optional counters too, which count by flow rules what the port's own
// counters count in the firmware: CNP, CE marks, RDMA bytes and packets. Read in the source only: whether the two agree to the packet has
// not been seen on hardware.
#pragma once

#include <optional>
#include <string_view>

#include "core/set_book.h"

namespace qpscope {

// nullopt: listed, and never counts.
std::optional<SetBook::Part> part_in_sets(std::string_view driver, std::string_view counter);

// Whether the sets of this port count parts of this counter. While they were not read yet: whether they do on every kernel.
bool counted_in_sets(std::string_view driver, const SetBook& book, PortNum port, const PortCounter& counter);

}  // namespace qpscope
