// SPDX-License-Identifier: Apache-2.0
// Who made a queue pair. What a tenant chooses (comm, cgroup names) is hostile: it goes out only through safe_text().
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/ids.h"

namespace qpscope {

struct Owner {
  bool known = false;        // false: nothing below means anything
  bool user = false;         // a process; else a kernel module
  Pid tid;                   // the creating thread; what netlink calls the QP's pid (restrack task_pid)
  Pid tgid;                  // the process; 0: unknown
  std::string comm;          // of the creating thread, at most 15 bytes, any bytes
  CgroupId cgroup;           // of the process when it made the QP
  std::string cgroup_path;   // below the cgroup root, "/" first; empty: not known (yet)
  std::string kern_name;     // of a kernel consumer: its module's name ("nvme_rdma")
  // From /proc, while the process lives:
  std::optional<std::uint32_t> uid;     // real
  std::optional<BootTime> start_time;   // of the thread `tid`, or of the process where that is gone: who has the number later is another
  // From the source that named the tenant (collectors/tenants):
  std::string k8s_pod, k8s_container;
};

}  // namespace qpscope
