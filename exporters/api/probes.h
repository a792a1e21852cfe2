// SPDX-License-Identifier: Apache-2.0
// GET /api/v1/probes: the BPF side, program group by program group. Pure; thread-safe.
#pragma once

#include <string>

#include "core/status.h"

namespace qpscope {

std::string probes_json(const Status& status);

}  // namespace qpscope
