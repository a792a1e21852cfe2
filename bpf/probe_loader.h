// SPDX-License-Identifier: Apache-2.0
// Takes for each probe the best alternative this kernel has, loads all the programs as one object and attaches them.
#pragma once

#include <memory>
#include <vector>

#include "bpf/probe_choice.h"
#include "bpf/probe_set.h"

namespace qpscope {

struct LinkDestroyer {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};
using LinkPtr = std::unique_ptr<bpf_link, LinkDestroyer>;

struct LoadedProbes {
  ObjectPtr object;            // null: no probe could be had
  std::vector<LinkPtr> links;  // behind the object: destroyed before it
  std::vector<ProbeStatus> status;
};

LoadedProbes load_probes(const ProbeOptions& options);

}  // namespace qpscope
