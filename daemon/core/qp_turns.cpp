// SPDX-License-Identifier: Apache-2.0
#include "core/qp_turns.h"

#include <algorithm>

namespace qpscope {

void QpTurns::remove(TenantId tenant, QpKey qp) {
  const auto found = waiting_.find(tenant);
  if (found == waiting_.end()) return;
  found->second.erase(qp);
  if (found->second.empty()) waiting_.erase(found);
}

std::vector<QpKey> QpTurns::take(std::size_t most, const std::function<bool(QpKey)>& ready) {
  struct Turn {
    TenantId tenant;
    std::set<QpKey>& waiting;
    std::set<QpKey>::iterator next;
  };
  std::vector<Turn> turns;
  for (auto& [tenant, waiting] : waiting_) turns.push_back({tenant, waiting, waiting.begin()});
  std::vector<QpKey> out;
  // There may be more tenants than may be taken: the next call goes on behind the last of this one.
  auto at = static_cast<std::size_t>(std::ranges::count_if(turns, [&](const Turn& turn) { return turn.tenant <= last_; }));
  for (std::size_t idle = 0; out.size() < most && idle < turns.size(); ++at) {
    Turn& turn = turns[at % turns.size()];
    turn.next = std::find_if(turn.next, turn.waiting.end(), ready);
    if (turn.next == turn.waiting.end()) {
      ++idle;
      continue;
    }
    idle = 0;
    out.push_back(*turn.next);
    turn.next = turn.waiting.erase(turn.next);
    last_ = turn.tenant;
  }
  std::erase_if(waiting_, [](const auto& entry) { return entry.second.empty(); });
  return out;
}

}  // namespace qpscope
