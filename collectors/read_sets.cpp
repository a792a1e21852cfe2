// SPDX-License-Identifier: Apache-2.0
#include "collectors/read_sets.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace qpscope {

Result<SetReading> read_sets(const Host& host, const std::string& device, DeviceNetlink& netlink, PortNum port, CounterLedger& ledger, const ClockFn& now) {
  SetBook& book = ledger.sets();
  const auto hear = [&] {
    if (host.queue_pairs) hear_releases(*host.queue_pairs, device, book, ledger.tenants(), now());
  };
  const auto mode = netlink.counter_mode(port);
  if (!mode) return std::unexpected(mode.error());
  SetReading out;
  NlCounterSets sets;
  if (mode->kind != NlCounterMode::Kind::none || !book.sets(port).empty()) {
    hear();
    auto answer = netlink.counter_sets(port);
    if (!answer) return SetReading{.commands = std::max<std::size_t>(1, book.sets(port).size()), .trouble = std::move(answer.error())};
    sets = std::move(*answer);
  }
  out.commands = sets.rows.size();
  out.trouble = std::move(sets.trouble);
  std::vector<SetBook::Row> rows;
  for (NlCounterSet& set : sets.rows) {
    if (set.port == port) rows.push_back({set.id, std::move(set.members), std::move(set.counters), set.mode == NlCounterMode::Kind::automatic});
  }
  book.read(port, rows, !out.trouble, now(), ledger.tenants(), [&](PortNum where, Qpn qpn) -> std::optional<TenantKey> {
    const auto qp = host.queue_pairs ? host.queue_pairs->holder(device, where, qpn) : std::nullopt;
    return qp ? qp->who : std::nullopt;
  });
  hear();
  return out;
}

}  // namespace qpscope
