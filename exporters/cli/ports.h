// SPDX-License-Identifier: Apache-2.0
// `qpscope ports`: what every port is and does now.
#pragma once

#include "session.h"

namespace qpscope::cli {

// `data` of /api/v1/ports.
Table port_table(const Json& data);
Outcome<Exit> ports(Session& session, const ListOptions& options);

// What is more than every fabric has: shared with what `status` calls wrong.
inline constexpr double kManyRetransmits = 1;  // a second
inline constexpr double kMuchPause = 0.1;      // of the time

}  // namespace qpscope::cli
