// SPDX-License-Identifier: Apache-2.0
// /var/lib/qpscope/incidents: a file for each incident, the oldest of which make room. Not thread-safe: the writer's thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "collectors/host/sysroot.h"

namespace qpscope {

inline constexpr const char* kIncidentFolder = "/var/lib/qpscope/incidents";

class IncidentFolder {
 public:
  // At most so many files and bytes; what people put beside them is neither counted nor removed.
  IncidentFolder(const Sysroot& root, std::size_t most_files, std::uint64_t most_bytes) : root_(root), most_files_(most_files), most_bytes_(most_bytes) {}

  // Makes the folder (0750) where it is missing; the file (0640) appears whole or not at all. ErrorCode::limit for one that is larger than all may be together.
  Result<> keep(const std::string& id, std::string_view text) const;

 private:
  Result<> make_room(const Fd& folder, std::uint64_t bytes) const;

  const Sysroot& root_;
  const std::size_t most_files_;
  const std::uint64_t most_bytes_;
};

// "20261201T031502Z-link_down", perhaps with "-2" behind: what a file of ours is called, without its ".json".
bool is_incident_id(std::string_view text);

}  // namespace qpscope
