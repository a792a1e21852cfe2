// SPDX-License-Identifier: Apache-2.0
// A cgroup path, element by element, and who made which of them.
//
// Below a cgroup that was handed to a tenant (a user's manager, a container) every name is the tenant's to choose:
// /user.slice/user-1000.slice/user@1000.service/slurm/uid_0/job_1 is no job of root. So sources match from the root of the path,
// along elements that only root's software makes, and never look for a name further inside. The outermost owner wins with it:
// a container in a pod is the pod's, a cluster in a job is the job's.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace qpscope {

class CgroupPath {
 public:
  // Views into `path`. " (deleted)" at the end, which /proc says of a removed cgroup, is left out.
  explicit CgroupPath(std::string_view path);

  // Elements from the first on; empty beyond the last.
  std::string_view operator[](std::size_t i) const { return i < elements_.size() ? elements_[i] : std::string_view(); }
  std::size_t size() const { return elements_.size(); }
  // "/../x": /proc, as seen from another cgroup namespace. The first element is then a child of an ancestor of our own
  // cgroup: made by whoever started us, but perhaps not at the top.
  bool relative() const { return relative_; }
  // How many elements at the front are systemd slices. The system's manager makes those, and the unit that follows.
  std::size_t slices() const;

 private:
  std::vector<std::string_view> elements_;
  bool relative_ = false;
};

bool is_unit(std::string_view name);   // "x.service" or "x.scope"
bool is_slice(std::string_view name);  // "x.slice"

// A container's id as runtimes write it: 64 hexadecimal digits, but any six letters, digits and dashes will do.
bool is_container_id(std::string_view text);
// What people see of it: 12 characters of the hexadecimal ones.
std::string_view short_id(std::string_view id);

// "cri-containerd-<id>.scope" → "<id>". nullopt: not of that shape, or no id.
std::optional<std::string_view> id_between(std::string_view element, std::string_view before, std::string_view after);

bool is_number(std::string_view text);  // digits, one at least

}  // namespace qpscope
