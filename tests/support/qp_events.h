// SPDX-License-Identifier: Apache-2.0
// Short spellings of QP events and netlink rows for the tests of the table and of what feeds it.
#pragma once

#include <memory>
#include <utility>

#include "core/qp_table.h"

namespace qpscope::test {

inline constexpr DeviceIndex kDev{3};
inline constexpr DeviceIndex kOtherDev{4};

struct Who {
  std::uint64_t serial = 0;
  std::uint32_t qpn = 0;
  QpType type = QpType::rc;
  std::uint32_t port = 0;
  bool tracked = true;
  DeviceIndex device = kDev;

  QpIdentity identity() const {
    return {.device = device, .serial = {serial}, .qpn = {qpn}, .type = type, .port = {port}, .tracked = tracked};
  }
  QpKey key() const { return {device, {serial}}; }
};

inline std::shared_ptr<const Owner> owner_of_thread(std::uint32_t tid) {
  Owner owner;
  owner.known = owner.user = true;
  owner.tid = owner.tgid = {tid};
  owner.comm = "job";
  return std::make_shared<const Owner>(std::move(owner));
}

inline void create(QpTable& table, const Who& who, std::uint64_t at, TenantId tenant = 0, std::uint32_t tid = 100) {
  table.apply(QpCreated{.at = {at}, .qp = who.identity(), .owner = *owner_of_thread(tid)}, owner_of_thread(tid), tenant);
}
inline void found(QpTable& table, const Who& who, std::uint64_t at) {
  table.apply(QpCreated{.at = {at}, .qp = who.identity(), .owner = {}, .found = true}, std::make_shared<const Owner>(), 0);
}
inline void modify(QpTable& table, const Who& who, QpState to, std::uint64_t at) {
  table.apply(QpModified{.at = {at}, .qp = who.identity(), .to = to});
}
inline void destroy(QpTable& table, const Who& who, std::uint64_t at) { table.apply(QpDestroyed{.at = {at}, .qp = who.identity()}); }

inline QpRow row(std::uint32_t qpn, QpState state = QpState::rts, QpType type = QpType::rc, std::uint32_t port = 1,
                 std::uint32_t tid = 100) {
  return {.qpn = {qpn}, .port = {port}, .type = type, .state = state, .remote_qpn = std::nullopt, .tid = {tid}, .kern_name = {}};
}
inline bool seed(QpTable& table, const QpRow& one, std::uint64_t now, QpTable::Why why = QpTable::Why::seed) {
  return table.add(kDev, one, owner_of_thread(one.tid.value), 0, {now}, why);
}
// A dump that comes in one piece.
struct DumpVerdict {
  std::vector<QpRow> unknown;
  std::vector<QpRecord> unseen;
};
inline DumpVerdict dump(QpTable& table, std::uint64_t began, std::vector<QpRow> rows, bool complete = true) {
  const QpDump whole{.device = kDev, .began = {began}, .complete = complete, .rows = std::move(rows)};
  auto unknown = table.dump_goes_on(whole);
  return {.unknown = std::move(unknown), .unseen = table.dump_ends(whole)};
}

inline std::uint64_t of(const std::map<QpTotals::Kind, std::uint64_t>& counts, QpType type = QpType::rc, DeviceIndex device = kDev) {
  const auto it = counts.find({device, type});
  return it == counts.end() ? 0 : it->second;
}
inline std::uint64_t sum(const std::map<QpTotals::Kind, std::uint64_t>& counts) {
  std::uint64_t out = 0;
  for (const auto& [kind, count] : counts) out += count;
  return out;
}
inline std::uint64_t transitions(const QpTable& table, std::optional<QpState> from, QpState to) {
  std::uint64_t out = 0;
  for (const auto& [t, count] : table.totals().transitions) out += t.from == from && t.to == to ? count : 0;
  return out;
}

}  // namespace qpscope::test
