// SPDX-License-Identifier: Apache-2.0
// What happened to queue pairs, as the history tells it (core/event_history.h). Pure.
#pragma once

#include <string>

#include "core/event.h"
#include "core/event_history.h"
#include "dead_qps.h"

namespace qpscope {

HistoryEvent event_of(const DeadQp& dead);
HistoryEvent event_of(const QpCallFailed& failed, const std::string& device);
// A call moved it to ERR.
HistoryEvent event_of_move(const std::string& device, const QpRecord& before, const Tenant& tenant, BootTime at);

}  // namespace qpscope
