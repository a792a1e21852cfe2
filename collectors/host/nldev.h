// SPDX-License-Identifier: Apache-2.0
// RDMA netlink (NETLINK_RDMA, NLDEV): devices, ports, queue pairs, counters and counter sets as the kernel's ib_core tells them.
// Facts: drivers/infiniband/core/nldev.c and counters.c of 6.1.192 and 6.12.117. All requests are unprivileged but those that
// change something.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.h"
#include "core/ids.h"
#include "core/memory_table.h"
#include "core/qp_record.h"
#include "core/rdma.h"

struct mnl_socket;

namespace qpscope {
namespace nldev {
class AnswerReader;
enum class Progress : bool;
}  // namespace nldev

struct NlDevice {
  DeviceIndex index;
  std::string name;
  std::uint32_t last_port = 0;            // ports are 1 … last_port
  std::optional<std::string> fw_version;  // soft-RoCE has none
  std::uint64_t node_guid = 0;            // as a number, so that 16 hexadecimal digits of it read as the rdma tool prints it
  std::uint64_t sys_image_guid = 0;
  std::uint8_t node_type = 0;  // RDMA_NODE_*: 1 CA, 4 RNIC, …; 0: not told
  std::string protocol;        // "ib", "roce", "iw", "opa", "usnic", by the first port; empty: none of them
};

struct NlPort {
  PortNum number;
  std::uint8_t state = 0;             // enum ib_port_state, 4 ACTIVE
  std::uint8_t phys_state = 0;        // 5 LinkUp
  std::optional<std::uint32_t> lid;   // InfiniBand only
  std::optional<std::string> netdev;  // only a netdev in the caller's own network namespace
};

using NlCounters = std::vector<std::pair<std::string, std::uint64_t>>;  // in the driver's order

// How the queue pairs of a port come to counter sets of their own.
struct NlCounterMode {
  enum class Kind : std::uint32_t { none = 0, automatic = 1, manual = 2 };  // enum rdma_nl_counter_mode
  Kind kind = Kind::none;
  std::uint32_t mask = 0;  // automatic: enum rdma_nl_counter_mask, 1 one set for each QP type, 2 for each thread that makes QPs
  friend bool operator==(const NlCounterMode&, const NlCounterMode&) = default;
};

// A counter set (struct rdma_counter): what its members have counted since they were bound.
struct NlCounterSet {
  CounterSetId id;
  PortNum port;
  NlCounterMode::Kind mode = NlCounterMode::Kind::none;  // how it was made
  std::optional<QpType> type;                            // automatic, by type
  Pid tid{};                                             // automatic, by thread; 0: gone, or of another pid namespace
  std::vector<Qpn> members;
  // Of a firmware that refuses as last read, without an error (fill_res_counter_entry). mlx5: 32 bits each; what is no Q counter is 0.
  NlCounters counters;
};

// What one request may cost at most. A broken dump can be endless: the kernel repeats an entry that does not fit, in
// empty messages (res_get_common_dumpit).
struct NldevBudget {
  std::size_t messages = 8192;
  std::size_t bytes = 32 * 1024 * 1024;
  std::size_t rows = 200'000;
  std::chrono::milliseconds timeout{3000};  // between two messages
};

// A process's open device (struct ib_ucontext).
struct NlContext {
  std::uint32_t number = 0;  // RDMA_NLDEV_ATTR_RES_CTXN: given out in turn
  Pid tid;                   // who opened it; 0: gone, or of another pid namespace
  friend bool operator==(const NlContext&, const NlContext&) = default;
};

struct QpDumpResult {
  QpDump dump;
  std::optional<Error> trouble;  // set exactly when dump.complete is false
};

struct NlCounterSets {
  std::vector<NlCounterSet> rows;
  std::optional<Error> trouble;  // there are more, or there may be
};

// One socket. One per thread, move-only. Calls block: the kernel answers *inside* sendto and recv, so that a hung
// firmware holds the calling thread there, and no timeout of ours ends that.
//
// Errors: the kernel's errno in Error::sys_errno. A device index or a port that does not exist (any more) is EINVAL,
// ErrorCode::io, which is also what a driver without per-port statistics gives. ETIMEDOUT: no message within the budget's
// timeout. ErrorCode::limit: over budget. ErrorCode::parse: bytes that make no sense.
// Whenever a conversation ends before the kernel's last word, the socket is thrown away and the next call opens another:
// the kernel refuses a second dump on a socket whose first is unfinished (EBUSY), and stale answers die with the old one.
class Nldev {
 public:
  // ErrorCode::unsupported where ib_core is not loaded. It is checked first: merely making the socket would load it
  // (MODULE_ALIAS_NET_PF_PROTO in core/netlink.c).
  static Result<Nldev> open(NldevBudget budget = {});
  Nldev(Nldev&&) noexcept;
  Nldev& operator=(Nldev&&) noexcept;
  ~Nldev();

  // All or an error: a list that is cut short would look like devices that went away.
  Result<std::vector<NlDevice>> devices();

  // Firmware: one port query a port. A port whose query fails ends the kernel's list without an error
  // (nldev_port_get_dumpit): fewer than NlDevice::last_port means ask port() one by one.
  Result<std::vector<NlPort>> ports(DeviceIndex device);
  Result<NlPort> port(DeviceIndex device, PortNum number);

  // Firmware: one query a QP, all at once; QpDumpReader does it in pieces. What came before an error or the end of the budget is
  // returned with complete = false; an error without any row is an error.
  Result<QpDumpResult> queue_pairs(DeviceIndex device, BootTime began);

  // Firmware: one query. ErrorCode::not_found (ENOENT): netlink knows no such QP: destroyed, or never tracked.
  // ErrorCode::unsupported with sys_errno EAGAIN: it exists but cannot be read, since it has another port than `port`, which
  // for a QP before INIT (it has none) is always so: the kernel does not accept a request without a port.
  Result<QpRow> queue_pair(DeviceIndex device, PortNum port, QpType type, Qpn qpn);

  // No firmware. enum rdma_driver_id (include/uapi/rdma/ib_user_ioctl_verbs.h). ErrorCode::unsupported where ib_uverbs is not
  // loaded: asking would load it (core/device.c ib_get_client_nl_info).
  Result<std::uint32_t> driver_id(DeviceIndex device);

  // No firmware. Whether devices that come and go are told on the notification group (6.12; device_news.h).
  Result<bool> monitors_devices();

  // No firmware. Queue pairs that netlink tracks, the driver's own ones left out, kernel ones included.
  Result<std::uint32_t> queue_pair_count(DeviceIndex device);

  // No firmware. All or an error; a kernel that does not know the question (5.10) says EINVAL or EOPNOTSUPP. Of one that changes meanwhile
  // some may be missing: ask until two answers agree.
  Result<std::vector<NlContext>> contexts(DeviceIndex device);

  // No firmware. All or an error, ErrorCode::limit where there are more than the budget allows. Of regions that come and go meanwhile, others
  // may be missing or told twice: the kernel goes on by position (res_get_common_dumpit).
  Result<std::vector<MemoryRegion>> memory_regions(DeviceIndex device);

  // Firmware: one pass over the hw_counters, never from the sysfs cache; optional counters that are off are left out.
  // EMSGSIZE: the driver has more counters than fit into one page (stat_get_doit_default_counter uses NLMSG_DEFAULT_SIZE,
  // about 65 of them): read sysfs instead.
  //
  // EINVAL: no statistics of ports, or the driver failed, whatever it said.
  Result<NlCounters> port_counters(DeviceIndex device, PortNum port);

  // No firmware. Two threads that ask at once, of two ports, may get one another's answer (stat_get_doit_qp keeps it in static
  // variables): believe a change only when it is told again.
  Result<NlCounterMode> counter_mode(DeviceIndex device, PortNum port);

  // Firmware: one query a set. Of one port, or of all. What came before an error is returned with it as `trouble`; an error
  // without any row is an error. ErrorCode::limit also for a set with more members than fit into a message (about 2,500): the
  // kernel then sends empty messages for ever.
  Result<NlCounterSets> counter_sets(DeviceIndex device, std::optional<PortNum> port = {});

  // Firmware: one query. ErrorCode::not_found: no such set. EMSGSIZE: it has more members than fit into one page.
  Result<NlCounterSet> counter_set(DeviceIndex device, PortNum port, CounterSetId id);

  // These change the host and need CAP_NET_ADMIN in the initial user namespace (else EPERM); firmware: one or two commands each.
  // As the kernel says it: ENOENT no such QP or set; EINVAL the QP has another port, is a kernel's while the set's are users', is bound
  // already, or the port is in automatic mode; EOPNOTSUPP no statistics of ports, or a firmware that cannot bind a running QP. Where
  // the driver refuses a *new* set, it is ENOMEM for whatever reason, the last two among them (core/counters.c alloc_and_bind).
  Result<CounterSetId> bind_to_new_set(DeviceIndex device, PortNum port, Qpn qpn);
  Result<> bind_to_set(DeviceIndex device, PortNum port, Qpn qpn, CounterSetId id);
  // The last member takes the set with it: what it counted goes on in the port's totals.
  Result<> unbind(DeviceIndex device, PortNum port, Qpn qpn, CounterSetId id);

  // The mask of NlCounterMode; 0 switches it off. Future QPs only: those there are stay as they are. EBUSY: sets exist, and
  // another mask than the present one was asked for.
  Result<> set_automatic_mode(DeviceIndex device, PortNum port, std::uint32_t mask);

 private:
  using Attribute = std::pair<std::uint16_t, std::variant<std::uint32_t, const char*>>;
  // Called with the attributes of every message of the answer. An error ends the conversation.
  using OnMessage = std::function<Result<>(std::span<const std::byte>)>;
  struct CloseSocket {
    void operator()(mnl_socket* socket) const;
  };

  friend class QpDumpReader;
  explicit Nldev(NldevBudget budget);
  Result<> connect();
  Result<> send(int command, bool dump, std::initializer_list<Attribute> attributes, const std::string& what);
  // The next datagram of an answer, of at most so many bytes.
  Result<nldev::Progress> receive(nldev::AnswerReader& reader, std::size_t most, const std::string& what, const OnMessage& on_message);
  // One request and its whole answer. `interrupted` (if wanted) tells of NLM_F_DUMP_INTR.
  Result<> ask(int command, bool dump, std::initializer_list<Attribute> attributes, const std::string& what, const OnMessage& on_message,
               bool* interrupted = nullptr);
  // A request without a dump: what `parse` makes of its one message.
  template <class Value>
  Result<Value> ask_one(int command, std::initializer_list<Attribute> attributes, const std::string& what,
                        Result<Value> (*parse)(std::span<const std::byte>));

  NldevBudget budget_;
  std::unique_ptr<mnl_socket, CloseSocket> socket_;
  std::unique_ptr<std::byte[]> buffer_;
  std::uint32_t sequence_ = 0;
};

// A dump of a device's queue pairs in pieces, on a socket of its own: the kernel queries as many QPs as fit into the next datagram
// each time one is read, so that a reader that waits between two pieces decides how fast the firmware is asked.
// Like Nldev it belongs to one thread.
class QpDumpReader {
 public:
  // The kernel has queried the first piece when this returns.
  static Result<QpDumpReader> begin(DeviceIndex device, NldevBudget budget = {});
  QpDumpReader(QpDumpReader&&) noexcept;
  QpDumpReader& operator=(QpDumpReader&&) noexcept;
  ~QpDumpReader();

  // Appends the next piece, some 90 QPs at most. False: that was the last. ENOSYS or EINVAL: the query of one QP failed (just being
  // destroyed, raw packet with RSS), which ends the kernel's dump and takes the rows of the same piece with it.
  Result<bool> read(std::vector<QpRow>& rows);
  // Rows may be missing although nothing failed: an entry that made no sense, or the kernel says that the dump was interrupted.
  const std::optional<Error>& trouble() const { return trouble_; }

 private:
  QpDumpReader(Nldev nldev, std::unique_ptr<nldev::AnswerReader> answer, std::string what, std::size_t rows);
  Nldev nldev_;
  std::unique_ptr<nldev::AnswerReader> answer_;
  std::string what_;
  std::size_t rows_left_;
  std::optional<Error> trouble_;
};

}  // namespace qpscope
