// SPDX-License-Identifier: Apache-2.0
// Keeps the QP table equal to what netlink says of one device, at a price the firmware can bear: on mlx5 every QP in a dump, and every
// single get, is a firmware command on a queue that applications need.
//
//   seed    one dump when the device appears; a few more while the counts have never been equal, as a dump under churn skips some
//   count   each tick, free: does the kernel hold as many QPs as the table?
//   suspects each tick, single gets of those that completion errors point at: hardware moves a QP to ERR without any call
//           that BPF could see
//   sweep   each tick, a few single gets in turn, for those that nothing points at
//   dump    only while the counts differ and nothing moves, and at most every `interval`
//
// All of it within the device's firmware budget: a dump goes on by the piece, as many on each tick as there is room for.
// Event loss alone starts no dump: the count tells whether it mattered. A dump adds; it removes, or counts drift, only what a
// later single get confirms. Runs on one thread (tick), which may hang in the kernel; takes the table's mutex for moments, never over a
// system call. reconcilers.h has one for each device.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
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

// What is needed of netlink; a fake in tests. One thread.
class QpSource {
 public:
  virtual ~QpSource() = default;
  virtual Result<std::vector<std::pair<DeviceIndex, std::string>>> devices() = 0;
  virtual Result<std::unique_ptr<QpDumping>> dump(DeviceIndex device) = 0;
  // not_found: the kernel has no such QP. Any other error: nothing is known.
  virtual Result<QpRow> get(DeviceIndex device, PortNum port, QpType type, Qpn qpn) = 0;
  virtual Result<std::uint32_t> count(DeviceIndex device) = 0;
  // To be called by the thread that asked, at its end: what is open may be in that thread's own descriptor table.
  virtual void close() = 0;
};

struct ReconcileOptions {
  double interval_seconds = 600;        // between two dumps of a device while BPF feeds the table
  double blind_interval_seconds = 15;   // the same without BPF: dumps are then the only source
  std::uint32_t polls_per_tick = 20;    // single gets of the sweep per device and tick; 0: none, of suspects neither
};

class Reconciler {
 public:
  // Called on the thread of tick(), of several devices at the same time.
  struct Hooks {
    ClockFn now;
    std::function<void()> drain;                                      // deliver every event the kernel has submitted
    std::function<std::pair<std::shared_ptr<const Owner>, TenantId>(const QpRow&)> attribute;  // as far as netlink tells; a moment
    std::function<bool()> events_on;                                  // is BPF feeding the table?
    std::function<std::uint64_t()> events_lost;                       // so far
    std::function<std::vector<Suspicion>(const std::string& device)> suspicions;  // new ones
    // Netlink says ERR of a QP that no call moved there. Not told without BPF, where nobody knows, unless it was suspect.
    std::function<void(const std::string& device, const QpRecord& before, BootTime asked, std::optional<BootTime> suspected)> found_dead;
  };
  struct Device {
    DeviceIndex index;
    std::string name;
    std::shared_ptr<CommandBudget> budget;
  };

  // The self check is guarded by the table's mutex too.
  Reconciler(Device device, QpSource& source, QpTable& table, std::mutex& table_mutex, SelfCheck& self_check, ReconcileOptions options, Hooks hooks);

  // One pass. Call it about once a second. The error is the first thing that went wrong; the rest was done.
  Result<> tick();
  void close();  // ends a dump that still runs; same thread as tick()

  // Any thread:
  void reseed() { reseed_ = true; }         // the next tick dumps the device again
  bool seeded() const { return seeded_ && !reseed_; }
  void leave();                             // the device is gone: so are its QPs, and a tick that still runs adds none
  const Device& device() const { return device_; }

 private:
  void start_anew();
  void note_losses();
  Result<> begin_dump(QpTable::Why why);
  Result<> go_on_dumping();
  void take_rows(std::vector<QpRow> rows);
  void end_dump(bool complete);
  std::size_t room() const;
  void spend(std::size_t commands) const;
  void confirm();
  Result<bool> counts_differ();
  void ask_suspects();
  void sweep();
  void ask(const std::vector<QpRecord>& batch);
  void found_dead(const QpRecord& before, BootTime asked);
  Result<QpRow> get(const QpRecord& record);
  void add(const QpRow& row, QpTable::Why why);

  const Device device_;
  QpSource& source_;
  QpTable& table_;
  std::mutex& table_mutex_;
  SelfCheck& self_check_;
  const ReconcileOptions options_;
  const Hooks hooks_;
  std::atomic<bool> seeded_ = false, reseed_ = false;
  bool gone_ = false;  // with the table's mutex

  unsigned seeds_ = 0;     // dumps since the seed that only complete it; see kMostSeeds
  std::unique_ptr<QpDumping> dumping_;
  QpDump dumped_;          // so far
  QpTable::Why why_{};     // it is dumped
  BootTime last_dump_;
  std::uint64_t events_at_mismatch_ = 0;  // of the table, when the counts first differed
  bool mismatch_ = false;
  QpKey sweep_from_;
  std::vector<Suspicion> suspicions_;  // being answered; the next are taken when every QP that these are about has been asked once
  std::vector<QpRow> unknown_;    // rows to confirm on the next tick
  std::vector<QpRecord> unseen_;  // records to confirm likewise
  std::uint64_t losses_noted_ = 0;
};

}  // namespace qpscope
