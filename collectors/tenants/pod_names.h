// SPDX-License-Identifier: Apache-2.0
// Names of pods and containers from the log folders that the kubelet makes, without asking the API server:
//   /var/log/pods/<namespace>_<pod>_<uid>/<container>/          pkg/kubelet/kuberuntime BuildPodLogsDirectory
//   /var/log/containers/<pod>_<namespace>_<container>-<id>.log  the same, legacyLogSymlink; <id>: of the container, without its runtime
// A static pod's uid is 32 hexadecimal digits. Both folders are root's. No name of these holds "_" (RFC 1123).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "collectors/host/sysroot.h"
#include "core/clock.h"

namespace qpscope {

struct PodName {
  std::string k8s_namespace, pod;
  std::string container;  // empty: not known
};

// Of one thread; reads folders. The root must outlive it. A name that is missing makes it list them again, at most once a second,
// and one that it has is not older than a minute. Bounded by Sysroot::kMostEntries.
class PodNames {
 public:
  PodNames(const Sysroot& root, ClockFn now) : root_(root), now_(std::move(now)) {}

  // `uid` with "-"; `container_id` may be empty. nullopt: neither is known.
  std::optional<PodName> find(std::string_view uid, std::string_view container_id);

 private:
  void refresh();
  std::optional<PodName> look_up(std::string_view uid, std::string_view container_id) const;

  const Sysroot& root_;
  const ClockFn now_;
  std::optional<BootTime> listed_;
  std::map<std::string, PodName, std::less<>> by_uid_, by_container_;
};

// The parsers, of one name each.
std::optional<std::pair<std::string, PodName>> parse_pod_folder(std::string_view name);     // first: the uid
std::optional<std::pair<std::string, PodName>> parse_container_log(std::string_view name);  // first: the container's id

}  // namespace qpscope
