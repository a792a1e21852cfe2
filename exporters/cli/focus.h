// SPDX-License-Identifier: Apache-2.0
// `qpscope focus`: one queue pair's own counters, for a while.
#pragma once

#include "session.h"

namespace qpscope::cli {

struct FocusOptions {
  std::string device;
  unsigned qpn = 0, seconds = 60;
  bool json = false;
};

Outcome<Exit> focus(Session& session, const FocusOptions& options);

}  // namespace qpscope::cli
