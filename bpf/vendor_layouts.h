// SPDX-License-Identifier: Apache-2.0
// A vendor's modules have other struct layouts than the kernel's BTF says, and CO-RE would read wrong offsets without a word. For these the
// offsets come from entries of bpf/layouts, one for each build of a module.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bpf/kernel_facts.h"
#include "bpf/layout.h"

namespace qpscope {

// The structs of RDMA that our programs read: all that are in their BTF but for those of the core kernel, which no vendor changes.
std::set<std::string> rdma_records();

class VendorLayouts {
 public:
  // Reads the entries of those of `modules` that are not the kernel's own, from the first of `folders` that has one.
  VendorLayouts(const KernelFacts& facts, const std::vector<std::string>& modules, const std::vector<std::string>& folders);
  ~VendorLayouts();
  VendorLayouts(const VendorLayouts&) = delete;
  VendorLayouts& operator=(const VendorLayouts&) = delete;

  // Why nothing can be attached to this module; nullopt: it is the kernel's own, or its layout is known.
  std::optional<std::string> why_not(const std::string& module) const;
  // Its layout comes from an entry: what the kernel says of its types does not hold.
  bool used(const std::string& module) const { return used_.contains(module); }
  // For libbpf (btf_custom_path): the kernel's types with the entries' structs instead of its own; nullptr: there is no need.
  const char* btf_path() const { return path_.empty() ? nullptr : path_.c_str(); }

 private:
  Result<> take(const std::string& module, const std::string& build_id, const std::vector<std::string>& folders);
  Result<> make_btf();

  std::map<std::string, std::string> refused_;  // module → why
  std::set<std::string> used_;
  std::map<std::string, LayoutRecord> records_;
  int fd_ = -1;  // of the types, in memory
  std::string path_;
};

}  // namespace qpscope
