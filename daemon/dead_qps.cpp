// SPDX-License-Identifier: Apache-2.0
#include "dead_qps.h"

#include <cstdio>

#include "core/rdma.h"
#include "core/text.h"

namespace qpscope {
namespace {

constexpr double kMinute = 60;

std::string seconds_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", value);
  return text;
}

std::string owner_text(const DeadQp& dead) {
  std::string out = " of " + safe_text(dead.tenant.tenant) + "/" + safe_text(dead.tenant.workload);
  const auto& owner = dead.before.owner;
  if (!owner || !owner->known) return out;
  if (!owner->user) return out + ", kernel module " + safe_text(owner->kern_name);
  const Pid pid = owner->tgid.value ? owner->tgid : owner->tid;
  return out + ", pid " + std::to_string(pid.value) + (owner->comm.empty() ? std::string() : " (" + safe_text(owner->comm) + ")");
}

std::string peer_text(const QpRecord& qp) {
  std::string out;
  if (qp.remote_gid) out += " gid " + to_string(*qp.remote_gid);
  if (qp.remote_lid) out += " lid " + std::to_string(*qp.remote_lid);
  if (qp.remote_qpn) out += " qpn " + std::to_string(qp.remote_qpn->value);
  return out.empty() ? out : ", peer" + out;
}

}  // namespace

std::string describe(const DeadQp& dead) {
  const QpRecord& qp = dead.before;
  std::string out = safe_text(dead.device);
  if (qp.port.value) out += " port " + std::to_string(qp.port.value);
  out += ": " + to_string(qp.type) + " queue pair " + std::to_string(qp.qpn.value) + owner_text(dead) + peer_text(qp);
  out += dead.calls_seen ? ": is in ERR and no call moved it there, after " : ": is in ERR, after ";
  out += seconds_text(seconds(dead.asked, qp.changed)) + " in ";
  out += qp.state ? to_string(*qp.state) : "an unknown state";
  if (dead.suspected) out += "; asked " + seconds_text(seconds(dead.asked, *dead.suspected)) + " after completion errors grew";
  return out;
}

void DeadQps::tell(const DeadQp& dead) {
  const BootTime now = now_();
  {
    const std::lock_guard lock(mutex_);
    Minute& minute = minutes_.try_emplace(dead.device, Minute{.began = now}).first->second;
    if (minute.lines >= kLinesPerMinute) {
      ++minute.more;
      return;
    }
    ++minute.lines;
  }
  warn_(describe(dead));
}

void DeadQps::sum_up() {
  const BootTime now = now_();
  std::map<std::string, std::size_t> more;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(minutes_, [&](const auto& entry) {
      if (seconds(now, entry.second.began) < kMinute) return false;
      if (entry.second.more > 0) more.emplace(entry.first, entry.second.more);
      return true;
    });
  }
  for (const auto& [device, count] : more) {
    warn_(safe_text(device) + ": " + std::to_string(count) + " more queue pairs were found in ERR within a minute (qpscope_queue_pairs_found_in_err_total)");
  }
}

}  // namespace qpscope
