// SPDX-License-Identifier: Apache-2.0
// How many firmware commands we may cause on one device. On mlx5 each counter read, port query or QP query is a command on a
// queue that applications need to set up their own queue pairs: we take a bounded part of it, whoever makes us curious.
//
// Three accounts fill with time: a tenant that makes queue pairs by the thousand uses up those of the queue pairs and the sets, never that
// of sampling. That of the sets exists from when it is asked for first. What one account has no room for goes to the others. A question is never cut into pieces: it may be asked while its account
// is not overdrawn, and what it overdraws is waited for before the next.
//
// Thread-safe: the device's two threads, which sample and reconcile, share it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "core/ids.h"

namespace qpscope {

class CommandBudget {
 public:
  enum class Use : std::uint8_t {
    sampling,     // counters, port state
    queue_pairs,  // RES_QP_GET
    sets,         // binding queue pairs to counter sets
  };
  // Commands a second; 0: without limit. Of a device without firmware nothing counts.
  explicit CommandBudget(double per_second, bool firmware = true);

  bool may_ask(Use use, BootTime now) { return seconds_to_wait(use, now) <= 0; }
  double seconds_to_wait(Use use, BootTime now);
  // How many questions of one command each fit in now.
  std::size_t room(Use use, BootTime now);
  // What has been asked, whether or not it fitted.
  void spend(Use use, std::uint64_t commands, BootTime now);
  // What `use` can count on, commands a second, however much the other wants; infinity without limit.
  double assured(Use use) const;

  std::uint64_t spent() const;      // commands so far
  std::uint64_t throttled() const;  // questions put off so far
  void put_off();                   // counts one

 private:
  static constexpr std::size_t kUses = 3;
  void fill(BootTime now);

  const double per_second_;
  const bool firmware_;
  mutable std::mutex mutex_;
  bool sets_ = false;                     // their account is used
  std::array<double, kUses> accounts_{};  // commands; below 0: overdrawn
  BootTime filled_;
  std::uint64_t spent_ = 0, throttled_ = 0;
};

// What each of several clocks gets of `assured`, when they want so many commands a second: what they want if it fits, else the
// cheap ones all of it and the expensive ones equal parts of the rest.
std::vector<double> fair_parts(std::span<const double> wanted, double assured);

}  // namespace qpscope
