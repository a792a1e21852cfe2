// SPDX-License-Identifier: Apache-2.0
#include "history_events.h"

#include <array>

#include "core/text.h"

namespace qpscope {

HistoryEvent event_of(const DeadQp& dead) {
  const QpRecord& qp = dead.before;
  HistoryEvent out{.at = dead.asked, .device = dead.device, .port = qp.port, .qpn = qp.qpn, .remote_qpn = qp.remote_qpn, .tenant = dead.tenant.tenant,
                   .workload = dead.tenant.workload, .remote_gid = qp.remote_gid, .message = describe(dead)};
  if (qp.owner && qp.owner->known && qp.owner->user) {
    out.pid = qp.owner->tgid.value ? qp.owner->tgid : qp.owner->tid;
    out.comm = qp.owner->comm;
  }
  return out;
}

HistoryEvent event_of(const QpCallFailed& failed, const std::string& device) {
  constexpr std::array<const char*, 3> calls{"create", "modify", "destroy"};
  return {.at = failed.at, .device = device,
          .message = safe_text(device) + ": a call to " + calls.at(static_cast<std::size_t>(failed.call)) + " a queue pair failed: " + errno_name(failed.error)};
}

}  // namespace qpscope
