// SPDX-License-Identifier: Apache-2.0
// `qpscope probes`: which BPF programs are attached, how, and what they cost.
#pragma once

#include "session.h"

namespace qpscope::cli {

std::string probes_text(const Json& data, const Screen& screen);  // `data` of /api/v1/probes
Outcome<Exit> probes(Session& session, bool json);

}  // namespace qpscope::cli
