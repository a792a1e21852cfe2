// SPDX-License-Identifier: Apache-2.0
// An event of the history as JSON: every field that is known. One of the doors out for untrusted strings. Pure.
#pragma once

#include <string>

#include "core/event_history.h"

namespace qpscope {

std::string event_json(const HistoryEvent& event, double wall_minus_boot);

}  // namespace qpscope
