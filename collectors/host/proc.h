// SPDX-License-Identifier: Apache-2.0
// One task as /proc shows it. Everything a tenant chooses in here (comm, names of cgroups) is raw and hostile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "collectors/host/sysroot.h"
#include "core/error.h"
#include "core/ids.h"
#include "core/owner.h"

namespace qpscope {

struct ProcTask {
  Pid tid;
  Pid tgid;                 // of the process the thread belongs to
  std::string comm;         // of the thread, raw bytes
  BootTime start_time;      // of the thread; the kernel gives it in clock ticks, 10 ms on every kernel we know
  std::string cgroup_path;  // "/" first; empty: none found. May end in " (deleted)" (kernel/cgroup/cgroup.c proc_cgroup_show)
  std::uint32_t uid = 0;    // real, as the reader's user namespace sees it
};

// Reads /proc/<tid>/{stat,status,cgroup}; tid may be any thread's (netlink names QPs by thread). The folder is opened
// once, so the three belong to one task even if the number is reused meanwhile. ErrorCode::not_found: the task is gone.
Result<ProcTask> read_task(const Sysroot& root, Pid tid);

// The task as the maker of a user queue pair. Owner::cgroup stays 0: /proc tells the path, not the id.
Owner owner_of(const ProcTask& task);

// The parsers, on the text of one file each. They fill the members their file knows.
Result<> parse_stat(std::string_view text, ProcTask& task);    // comm, start_time
Result<> parse_status(std::string_view text, ProcTask& task);  // tgid, uid
// The path in the hierarchy that names cgroups for us, the same as CgroupWalk chooses: v1 pids, else v1 memory, else v2.
std::string parse_cgroup(std::string_view text);

}  // namespace qpscope
