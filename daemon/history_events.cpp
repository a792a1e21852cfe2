// SPDX-License-Identifier: Apache-2.0
#include "history_events.h"

#include <array>
#include <utility>

#include "core/text.h"

namespace qpscope {
namespace {

HistoryEvent about(const std::string& device, const QpRecord& qp, const Tenant& tenant, BootTime at, std::string message) {
  HistoryEvent out{.at = at, .device = device, .port = qp.port, .qpn = qp.qpn, .remote_qpn = qp.remote_qpn, .tenant = tenant.tenant, .workload = tenant.workload,
                   .remote_gid = qp.remote_gid, .message = std::move(message)};
  if (qp.owner && qp.owner->known && qp.owner->user) {
    out.pid = qp.owner->tgid.value ? qp.owner->tgid : qp.owner->tid;
    out.comm = qp.owner->comm;
  }
  return out;
}

}  // namespace

HistoryEvent event_of(const DeadQp& dead) { return about(dead.device, dead.before, dead.tenant, dead.asked, describe(dead)); }

HistoryEvent event_of_move(const std::string& device, const QpRecord& before, const Tenant& tenant, BootTime at) {
  return about(device, before, tenant, at,
               safe_text(device) + ": queue pair " + std::to_string(before.qpn.value) + " was moved to ERR by a call, from " + std::string(before.state ? to_string(*before.state) : "an unknown state"));
}

HistoryEvent event_of(const QpCallFailed& failed, const std::string& device) {
  constexpr std::array<const char*, 3> calls{"create", "modify", "destroy"};
  return {.at = failed.at, .device = device,
          .message = safe_text(device) + ": a call to " + calls.at(static_cast<std::size_t>(failed.call)) + " a queue pair failed: " + errno_name(failed.error)};
}

}  // namespace qpscope
