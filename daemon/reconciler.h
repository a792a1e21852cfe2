// SPDX-License-Identifier: Apache-2.0
// Keeps the QP table equal to what netlink says, at a price the firmware can bear: on mlx5 every QP in a dump, and every
// single get, is a firmware command on a queue that applications need.
//
//   seed    one dump per device when it appears; a few more while the counts have never been equal, as a dump under churn skips some
//   count   each tick, free: does the kernel hold as many QPs as the table?
//   suspects each tick, single gets of those that completion errors point at: hardware moves a QP to ERR without any call
//           that BPF could see
//   sweep   each tick, a few single gets in turn, for those that nothing points at
//   dump    only while the counts differ and nothing moves, and at most every `interval`
//
// All of it within the device's firmware budget: a dump goes on by the piece, as many on each tick as there is room for.
// Event loss alone starts no dump: the count tells whether it mattered. A dump adds; it removes, or counts drift, only what a
// later single get confirms. Runs on one thread (tick); takes the table's mutex for moments, never over a system call.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/command_budget.h"
#include "core/error.h"
#include "core/qp_table.h"
#include "self_check.h"

namespace qpscope {

// A dump in pieces.
class QpDumping {
 public:
  struct Piece {
    std::vector<QpRow> rows;  // some dozens, each of which has cost a firmware command
    bool last = false;
    bool flawed = false;      // rows may be missing
  };
  virtual ~QpDumping() = default;
  virtual Result<Piece> next() = 0;
};

// What the reconciler needs of netlink; a fake in tests.
class QpSource {
 public:
  virtual ~QpSource() = default;
  virtual Result<std::vector<std::pair<DeviceIndex, std::string>>> devices() = 0;
  virtual Result<std::unique_ptr<QpDumping>> dump(DeviceIndex device) = 0;
  // not_found: the kernel has no such QP. Any other error: nothing is known.
  virtual Result<QpRow> get(DeviceIndex device, PortNum port, QpType type, Qpn qpn) = 0;
  virtual Result<std::uint32_t> count(DeviceIndex device) = 0;
};

struct ReconcileOptions {
  double interval_seconds = 600;        // between two dumps of a device while BPF feeds the table
  double blind_interval_seconds = 15;   // the same without BPF: dumps are then the only source
  std::uint32_t polls_per_tick = 20;    // single gets of the sweep per device and tick; 0: none, of suspects neither
};

class Reconciler {
 public:
  struct Hooks {
    ClockFn now;
    std::function<void()> drain;                                      // deliver every event the kernel has submitted
    std::function<std::pair<std::shared_ptr<const Owner>, TenantId>(const QpRow&)> attribute;  // as far as netlink tells; a moment
    std::function<bool()> events_on;                                  // is BPF feeding the table?
    std::function<std::uint64_t()> events_lost;                       // so far
    std::function<bool(const std::string& device)> watched;           // devices that the configuration leaves out are not asked
    std::function<std::shared_ptr<CommandBudget>(const std::string& device)> budget;
    std::function<std::vector<Suspicion>(const std::string& device)> suspicions;  // new ones
    // Netlink says ERR of a QP that no call moved there. Not told without BPF, where nobody knows, unless it was suspect.
    std::function<void(const std::string& device, const QpRecord& before, BootTime asked, std::optional<BootTime> suspected)> found_dead;
  };

  Reconciler(QpSource& source, QpTable& table, std::mutex& table_mutex, SelfCheck& self_check, ReconcileOptions options, Hooks hooks);

  // One pass over all devices. Call it about once a second. The error is the first thing that went wrong; the rest was done.
  Result<> tick();

  void reseed();   // the next tick dumps every device again; same thread as tick()
  bool seeded() const;  // every device's seed is complete; same thread as tick()
  void close();    // ends dumps that still run; same thread as tick()

  std::map<DeviceIndex, std::string> devices() const;  // as of the last tick. Thread-safe

 private:
  struct Device {
    std::string name;
    std::shared_ptr<CommandBudget> budget;
    bool seeded = false;
    unsigned seeds = 0;     // dumps since then that only complete it; see kMostSeeds
    std::unique_ptr<QpDumping> dumping;
    QpDump dumped;          // so far
    QpTable::Why why{};     // it is dumped
    BootTime last_dump;
    std::uint64_t events_at_mismatch = 0;  // of the table, when the counts first differed
    bool mismatch = false;
    QpKey sweep_from;
    std::vector<Suspicion> suspicions;  // being answered; the next are taken when every QP that these are about has been asked once
    std::vector<QpRow> unknown;    // rows to confirm on the next tick
    std::vector<QpRecord> unseen;  // records to confirm likewise
  };

  Result<> refresh_devices();
  void note_losses();
  Result<> visit(DeviceIndex index, Device& device);
  Result<> begin_dump(DeviceIndex index, Device& device, QpTable::Why why);
  Result<> go_on_dumping(DeviceIndex index, Device& device);
  void take_rows(DeviceIndex index, Device& device, std::vector<QpRow> rows);
  void end_dump(Device& device, bool complete);
  std::size_t room(const Device& device) const;
  void spend(const Device& device, std::size_t commands) const;
  void confirm(DeviceIndex index, Device& device);
  Result<bool> counts_differ(DeviceIndex index, Device& device);
  void ask_suspects(DeviceIndex index, Device& device);
  void sweep(DeviceIndex index, Device& device);
  void ask(DeviceIndex index, Device& device, const std::vector<QpRecord>& batch);
  void found_dead(const Device& device, const QpRecord& before, BootTime asked);
  Result<QpRow> get(DeviceIndex index, const Device& device, const QpRecord& record);
  void add(DeviceIndex index, const QpRow& row, QpTable::Why why);

  QpSource& source_;
  QpTable& table_;
  std::mutex& table_mutex_;
  SelfCheck& self_check_;
  const ReconcileOptions options_;
  const Hooks hooks_;
  mutable std::mutex devices_mutex_;
  std::map<DeviceIndex, Device> devices_;
  std::uint64_t losses_noted_ = 0;
};

}  // namespace qpscope
