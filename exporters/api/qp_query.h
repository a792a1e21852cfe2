// SPDX-License-Identifier: Apache-2.0
// Which queue pairs a request for /api/v1/qps wants. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/snapshot.h"

namespace qpscope {

// An empty set is no filter; within a set any value will do, and every set has to be satisfied. Texts are as they are shown, made safe.
struct QpQuery {
  static constexpr std::size_t kUsualLimit = 1000, kMostLimit = 10000;
  std::set<std::string, std::less<>> devices, types, tenants, workloads;
  std::set<std::uint32_t> ports, qpns, pids;
  std::set<QpState> states;
  std::set<Gid> remote_gids;
  std::size_t limit = kUsualLimit;
  std::optional<QpKey> after;  // those with a greater key only
};

// ErrorCode::invalid, with the parameter's name, for one that is unknown, has a value it cannot have, or may be given only once.
Result<QpQuery> parse_qp_query(std::string_view query);

// Where a page ended, for the next one: opaque to whoever asks, and the only spelling of its position. A position in the order of keys is good
// whatever came and went: a queue pair that is there all the time is in exactly one page, unless its key changes meanwhile, which happens once
// at most, when an event first tells of a queue pair that a netlink dump had found.
std::string cursor_text(QpKey key);
std::optional<QpKey> parse_cursor(std::string_view text);

// A query over one snapshot, which must outlive it: names are looked up once, not for each queue pair.
class QpFilter {
 public:
  QpFilter(QpQuery query, const Snapshot& snapshot);
  bool operator()(const QpRecord& qp) const;

 private:
  QpQuery query_;
  std::set<DeviceIndex> devices_;
  std::set<TenantId> tenants_;  // those whose tenant and workload are asked for
};

// Tenant 0 stands for one that was not looked for yet as well.
inline bool tenant_known(const QpRecord& qp) { return qp.attributed || qp.tenant != 0; }
// Empty: a kernel's own, or not known.
std::optional<Pid> process_of(const QpRecord& qp);

}  // namespace qpscope
