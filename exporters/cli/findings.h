// SPDX-License-Identifier: Apache-2.0
// What is wrong on this host, as far as one answer of the daemon tells. Pure.
#pragma once

#include <string>
#include <vector>

#include "fields.h"

namespace qpscope::cli {

struct Finding {
  bool error = false;  // else a warning
  std::string where;   // a device, a device and port, or nothing: the host
  std::string what;
};

// `status` and `ports`: whole answers of /api/v1/status and /api/v1/ports. Errors first.
//  * what the daemon says that keeps it from seeing everything; that it is not ready; that its picture is older than half a minute
//  * queue pairs in ERR or SQE
//  * a port that is not ACTIVE though it has queue pairs, or moved data in the last minutes: a port that nobody uses may be down
//  * over the last minute more than a retransmit a second, or paused for more than a tenth of the time
std::vector<Finding> findings(const Json& status, const Json& ports);

}  // namespace qpscope::cli
