// SPDX-License-Identifier: Apache-2.0
// `qpscope probes`: which BPF programs are attached, how, and what they cost; off and on again.
#pragma once

#include "session.h"

namespace qpscope::cli {

std::string probes_text(const Json& data, const Screen& screen);  // `data` of /api/v1/probes

struct ProbesOptions {
  std::string action;  // "off", "on"; empty: list them
  unsigned seconds = 900;
  bool json = false;
};

Outcome<Exit> probes(Session& session, const ProbesOptions& options);

}  // namespace qpscope::cli
