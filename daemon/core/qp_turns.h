// SPDX-License-Identifier: Apache-2.0
// Queue pairs that wait to be told, handed out in turn by tenant: one that makes very many does not keep the others waiting.
// Pure; not thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "core/qp_record.h"

namespace qpscope {

class QpTurns {
 public:
  void add(TenantId tenant, QpKey qp) { waiting_[tenant].insert(qp); }
  void remove(TenantId tenant, QpKey qp);
  bool empty() const { return waiting_.empty(); }
  // Up to `most`, each once; those that are not `ready` go on waiting.
  std::vector<QpKey> take(std::size_t most, const std::function<bool(QpKey)>& ready);

 private:
  std::map<TenantId, std::set<QpKey>> waiting_;  // none is empty
  TenantId last_ = 0;                            // whose turn it was
};

}  // namespace qpscope
