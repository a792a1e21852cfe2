// SPDX-License-Identifier: Apache-2.0
// One queue pair as the table knows it. Plain data; a field that is not known is empty, never guessed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/owner.h"
#include "core/rdma.h"

namespace qpscope {

// Names one QP for good, however often its number is reused.
struct QpKey {
  DeviceIndex device;
  QpSerial serial;  // from the BPF side, or, with kSeeded set, ours for a QP known from a netlink dump only
  friend auto operator<=>(const QpKey&, const QpKey&) = default;
};

inline constexpr std::uint64_t kSeeded = std::uint64_t{1} << 63;
constexpr bool is_seeded(QpSerial serial) { return (serial.value & kSeeded) != 0; }

using TenantId = std::uint32_t;  // index into TenantMap's pairs; 0 is unknown/unknown

struct QpRecord {
  QpKey key;
  Qpn qpn;
  QpType type = QpType::rc;
  std::optional<QpState> state;  // empty: a QP older than the daemon whose state nobody told yet
  PortNum port;                  // 0 before INIT
  bool tracked = true;           // netlink lists it
  bool from_bpf = false;         // false: known from netlink only
  bool seeded = false;           // counted as there before us (QpTotals::seeded), not as created
  std::uint64_t generation = 0;  // tells users of one QPN apart: 0 for a QP older than the daemon, else a number given once
  std::shared_ptr<const Owner> owner;
  TenantId tenant = 0;
  bool attributed = false;       // the owner has been looked at, or nobody knows it: until then tenant 0 means "not yet"
  std::optional<Qpn> remote_qpn;
  std::optional<Gid> local_gid, remote_gid;
  std::optional<std::uint32_t> remote_lid, traffic_class, path_mtu, timeout, retry_cnt, rnr_retry;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> async_events;  // how often, by number (core/rdma_events.h): those that were told one by one
  std::optional<BootTime> created;  // empty: before the daemon
  BootTime changed;                 // last state change, or when first seen
  BootTime asked;                   // when netlink was last asked about it, whatever it said; 0: never
};

// One entry of a netlink RES_QP_GET answer, in the table's terms.
struct QpRow {
  Qpn qpn;
  PortNum port;                 // 0: none yet
  QpType type = QpType::rc;
  std::optional<QpState> state;
  std::optional<Qpn> remote_qpn;  // RC and UC only
  Pid tid;                      // creating thread as the reader's pid namespace sees it; 0: dead, kernel-owned or not visible
  std::string kern_name;        // kernel QPs; may be empty for a user QP whose task is gone
};

// A dump skips, repeats and aborts under churn (core/nldev.c res_get_common_dumpit): it is evidence of presence only.
struct QpDump {
  DeviceIndex device;
  BootTime began;
  bool complete = true;         // false: ended by an error or by our budget
  std::vector<QpRow> rows;
};

}  // namespace qpscope
