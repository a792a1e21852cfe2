// SPDX-License-Identifier: Apache-2.0
// What reads of a counter file ask of the firmware. Pure, not thread-safe.
//
// hw_counters/ are served from a cache of the port, for `lifespan` (core/sysfs.c update_hw_stats): a read that finds it too old makes
// one pass over all counters. With mlx5 of 6.1 and later only a read of the first file renews the cache's stamp, since only that
// reads the optional counters too (mlx5_ib_get_hw_stats): every other file asks for a pass of its own as soon as the cache is too
// old. Then the first is read again, so that it serves the rest. Before, it would be served from the cache and renew nothing.
#pragma once

#include "core/ids.h"

namespace qpscope {

class ReadCost {
 public:
  // Each read asks so many commands.
  static ReadCost each(unsigned commands) { return {commands, false, false}; }
  // A read asks only where the cache is too old. `first_alone`: no other file renews it.
  static ReadCost cached(unsigned commands, bool first_alone) { return {commands, true, first_alone}; }

  bool cached() const { return cached_; }  // else no time matters
  void lifespan(double seconds) { lifespan_ = seconds; }

  // Of a read at `now`. Of files in whose time the cache ends each counts, though one may still be served.
  unsigned commands(BootTime now) const { return fresh(now, 0) ? 0 : commands_; }
  bool first_again(BootTime now) const { return first_alone_ && !fresh(now, kTick); }
  // A read has ended that began at `began`.
  void has_read(BootTime began, BootTime ended, bool first) {
    if (cached_ && (first || !first_alone_) && !fresh(began, 0)) renewed_ = ended;
  }

 private:
  static constexpr double kTick = 0.004;  // the kernel counts in jiffies; 250 Hz
  ReadCost(unsigned commands, bool cached, bool first_alone) : commands_(commands), cached_(cached), first_alone_(first_alone) {}
  bool fresh(BootTime now, double more) const { return cached_ && seconds(now, renewed_) <= lifespan_ + more; }

  unsigned commands_;
  bool cached_, first_alone_;
  double lifespan_ = 0.01;  // the kernel's default
  BootTime renewed_;
};

}  // namespace qpscope
