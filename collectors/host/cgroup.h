// SPDX-License-Identifier: Apache-2.0
// Names of cgroups by id, in the one hierarchy that names cgroups for qpscope: v2, or on a v1 or hybrid host pids, else
// memory (the BPF side takes a task's id from the same one).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "collectors/host/sysroot.h"
#include "core/error.h"
#include "core/ids.h"

namespace qpscope {

struct CgroupEntry {
  CgroupId id;       // inode number of the folder; equals the kernfs id on 64-bit kernels since 5.5 (fs/kernfs/dir.c)
  std::string path;  // below the hierarchy's root, which is "/"; raw bytes that a tenant may have chosen
};

struct CgroupListing {
  std::vector<CgroupEntry> entries;  // a parent before its children
  bool complete = true;              // false: a bound was reached or a folder could not be read; not for those that vanished meanwhile
  std::string trouble;               // why not complete; good enough for the log
};

struct CgroupBudget {
  std::size_t entries = 65536;
  std::size_t depth = 64;  // one descriptor is open per level
};

// Move-only; const calls from any thread. Owns the hierarchy's folder.
class CgroupWalk {
 public:
  // ErrorCode::not_found where no hierarchy is mounted.
  static Result<CgroupWalk> open(const Sysroot& root);

  // Reads every folder once, links not followed: one stat a cgroup, some 10 µs each. Not for the event thread.
  CgroupListing walk(CgroupBudget budget = {}) const;

  // One cgroup by open_by_handle_at(2), three system calls: live only, needs CAP_DAC_READ_SEARCH. nullopt: removed, never
  // was, or not allowed. The root itself is "/".
  std::optional<std::string> path_of(CgroupId id) const;

  int descriptor() const { return fd_.get(); }  // what a thread that closes its files has to keep
  bool v2() const { return v2_; }
  const std::string& mount() const { return mount_; }  // "/sys/fs/cgroup", "/sys/fs/cgroup/pids", …

 private:
  CgroupWalk(Fd fd, std::string mount, bool v2, bool live) : fd_(std::move(fd)), mount_(std::move(mount)), v2_(v2), live_(live) {}

  Fd fd_;
  std::string mount_;
  bool v2_ = false;
  bool live_ = false;
};

}  // namespace qpscope
