// SPDX-License-Identifier: Apache-2.0
// One task as /proc shows it. Everything a tenant chooses in here (comm, names of cgroups) is raw and hostile.
#pragma once

#include <cstdint>
#include <optional>
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

// Adds what the task tells of the owner of a queue pair that was seen at `seen`. False, and nothing added, if it is another
// process that got the number since then: it started later than that, or than the owner looked at before.
bool complete(Owner& owner, const ProcTask& task, BootTime seen);

// /proc/<pid>/environ: "NAME=value" strings, each ended by NUL; what the process was started with, unless it wrote over it.
// ErrorCode::not_found when the owner's numbers belong to others than who started at its start_time; ErrorCode::limit beyond
// 256 KiB. The kernel reads it from the process's own memory (fs/proc/base.c environ_read), which a process can make
// take for ever (userfaultfd, FUSE): only for a thread that may be left behind, and only where somebody asked for it.
Result<std::string> read_environment(const Sysroot& root, const Owner& owner);
// The value of a variable in that text; the first of several, as getenv(3).
std::optional<std::string_view> environment_value(std::string_view environment, std::string_view name);

// The parsers, on the text of one file each. They fill the members their file knows.
Result<> parse_stat(std::string_view text, ProcTask& task);    // comm, start_time
Result<> parse_status(std::string_view text, ProcTask& task);  // tgid, uid
// The path in the hierarchy that names cgroups for us, the same as CgroupWalk chooses: v1 pids, else v1 memory, else v2.
std::string parse_cgroup(std::string_view text);

}  // namespace qpscope
