// SPDX-License-Identifier: Apache-2.0
// `qpscope qps`: the queue pairs of this host.
#pragma once

#include "session.h"

namespace qpscope::cli {

// Of /api/v1/qps; `now` is the answer's time in Unix seconds.
Table qp_table(const Json& queue_pairs, std::optional<double> now);
Outcome<Exit> qps(Session& session, const ListOptions& options);

}  // namespace qpscope::cli
