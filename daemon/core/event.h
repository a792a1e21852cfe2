// SPDX-License-Identifier: Apache-2.0
// What the kernel tells us, as values: the wire format (bpf/events.h) ends in bpf/decode.cpp. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/ids.h"
#include "core/owner.h"
#include "core/rdma.h"

namespace qpscope {

// What every QP event says of its QP, read from struct ib_qp at the time of the event.
struct QpIdentity {
  DeviceIndex device;
  QpSerial serial;       // given by the BPF side at first sight; 0: a QP older than the probes, not seen before
  Qpn qpn;
  QpType type = QpType::rc;
  PortNum port;          // 0 before INIT (SMI and GSI have theirs from the start)
  bool tracked = true;   // false: netlink never lists it (restrack no_track, or its restrack id was still taken)
};

// A QP came into being (rdma_restrack_add), or, with `found`, one older than the probes was seen for the first time.
struct QpCreated {
  BootTime at;
  QpIdentity qp;
  Owner owner;           // cgroup_path is empty: the kernel gives the id only
  bool found = false;
  QpState state = QpState::reset;  // known for found QPs only through the modify that follows
};

// One ib_modify_qp call that succeeded. A field is set only where the call's attribute mask had its bit.
struct QpModified {
  BootTime at;
  QpIdentity qp;
  std::uint32_t mask = 0;                    // IB_QP_*
  std::optional<QpState> to;
  std::optional<Qpn> remote_qpn;
  std::optional<Gid> remote_gid, local_gid;  // with a GRH (always on RoCE)
  std::optional<std::uint32_t> remote_lid;   // InfiniBand only
  std::optional<std::uint32_t> traffic_class;
  std::optional<std::uint32_t> path_mtu;     // bytes
  std::optional<std::uint32_t> timeout;      // exponent: 4.096 µs × 2^n, 0 infinite
  std::optional<std::uint32_t> retry_cnt, rnr_retry;
};

// ib_destroy_qp_user returned 0.
struct QpDestroyed {
  BootTime at;
  QpIdentity qp;
};

// A verb that the kernel refused. It changes no state.
struct QpCallFailed {
  enum class Call : std::uint8_t { create, modify, destroy };
  BootTime at;
  DeviceIndex device;
  Call call = Call::create;
  int error = 0;         // errno, positive
};

struct CgroupChanged {
  enum class What : std::uint8_t { made, renamed, removed };
  BootTime at;
  What what = What::made;
  CgroupId id;
  std::string path;      // below its hierarchy's root; may be cut at 511 bytes
};

// A counter set whose last QP left it: what it had counted when the kernel asked it for the last time, right before (core/counters.c
// counter_release; what an earlier asking brought if the driver failed that one). Of a QP that is destroyed this comes before
// QpDestroyed. Another set may have the id at once.
struct CounterReleased {
  BootTime at;
  DeviceIndex device;
  PortNum port;
  std::uint32_t counter_id = 0;  // RDMA_NLDEV_ATTR_STAT_COUNTER_ID
  // Modulo what the hardware has (mlx5's Q counters: 2^32). The position is RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX: a set has the
  // order of its port (counter_history_stat_update adds by index). Empty: an optional counter that is off for the set; netlink
  // leaves it out (core/nldev.c fill_stat_counter_hwcounters), so its Nth entry for the set is the Nth here that is not empty.
  std::vector<std::optional<std::uint64_t>> values;
  bool truncated = false;        // the set had more
};

// A DEVX object that moves traffic came or went (mlx5's devx.c): a queue pair in all but ib_core's knowledge, so that neither QpCreated nor
// netlink tells of it. A create that failed is a QpCallFailed.
struct DevxObject {
  enum class What : std::uint8_t { created, destroyed };  // destroyed also with its process, or its device
  enum class Kind : std::uint8_t { qp, dct, sq, rq };     // raw send and receive queues have no QP around them
  BootTime at;
  What what = What::created;
  DeviceIndex device;
  QpSerial handle;       // names it while it lives
  Kind kind = Kind::qp;
  Qpn number;            // of its kind
  Owner owner;           // created only; as in QpCreated
};

// An asynchronous event of ib_core (verbs.h enum ib_event_type). Of each event at most some 200 a second come; EventCount has them all.
struct AsyncEvent {
  BootTime at;
  std::uint32_t event = 0;             // its number: core/rdma_events.h
  DeviceIndex device;
  PortNum port;                        // 0: not of a port
  std::optional<QpIdentity> qp;        // of a queue pair
  std::optional<std::uint32_t> number; // of a CQ or SRQ, as netlink names it
  Owner owner;                         // of the queue pair, CQ or SRQ; as in QpCreated
};

// What the connection manager told a user of it (rdma_cm.h enum rdma_cm_event_type). Bounded as AsyncEvent is.
struct CmEvent {
  BootTime at;
  std::uint32_t event = 0;
  int status = 0;                      // of a rejection its reason (ib_cm.h enum ib_cm_rej_reason), else an errno, negative, or 0
  std::optional<DeviceIndex> device;
  Qpn qpn;                             // 0: none
  std::string source, destination;     // address and port; empty: not known
  Owner owner;                         // of the id
};

using Event = std::variant<QpCreated, QpModified, QpDestroyed, QpCallFailed, CgroupChanged, CounterReleased, DevxObject, AsyncEvent, CmEvent>;

// How often something happened since the probes were loaded, told one by one or not.
struct EventCount {
  enum class Kind : std::uint8_t { async, cm };
  Kind kind = Kind::async;
  std::optional<DeviceIndex> device;
  PortNum port;
  std::uint32_t event = 0;
  int status = 0;  // of cm
  std::uint64_t count = 0;
};

// Events that the kernel side or the decoder lost, by reason, since the probes were loaded. Totals.
struct EventLosses {
  std::uint64_t ring_full = 0;         // no room in the ring buffer
  std::uint64_t recursion = 0;         // the kernel skipped a program already running on that CPU (bpf_prog_info.recursion_misses)
  std::uint64_t kretprobe_missed = 0;  // a return was not seen (maxactive)
  std::uint64_t decode = 0;            // bytes that were no event
  std::uint64_t total() const { return ring_full + recursion + kretprobe_missed + decode; }
};

}  // namespace qpscope
