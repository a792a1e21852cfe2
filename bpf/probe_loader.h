// SPDX-License-Identifier: Apache-2.0
// Takes for each probe the best alternative this kernel has, loads all the programs as one object and attaches them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bpf/probe_choice.h"
#include "bpf/probe_set.h"

namespace qpscope {

struct LinkDestroyer {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};
using LinkPtr = std::unique_ptr<bpf_link, LinkDestroyer>;

// The modules that probes attach to, with module_identity().
using ModuleIdentities = std::map<std::string, std::uint64_t>;
ModuleIdentities module_identities(const std::string& sys_root);

struct LoadedProbes {
  ObjectPtr object;            // null: no probe could be had
  std::vector<LinkPtr> links;  // behind the object: destroyed before it
  std::vector<ProbeStatus> status;
  ModuleIdentities modules;  // as they were before
};

LoadedProbes load_probes(const ProbeOptions& options);

}  // namespace qpscope
