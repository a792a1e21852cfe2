// SPDX-License-Identifier: Apache-2.0
// What the running kernel has for us to attach to: privileges, ib_core's state, functions in BTF, symbols.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"

struct btf;

namespace qpscope {

// An error when BPF as a whole is not to be had: it says what is missing and what to do.
Result<> bpf_usable();

class KernelFacts {
 public:
  // Reads /proc/kallsyms once, for the given names.
  KernelFacts(std::string sys_root, std::span<const std::string> symbols);
  ~KernelFacts();
  KernelFacts(const KernelFacts&) = delete;
  KernelFacts& operator=(const KernelFacts&) = delete;

  bool ib_core_loaded() const;
  // Set when the running ib_core is not the one this kernel was built with: why its layout cannot be known.
  std::optional<std::string> ib_core_foreign() const;

  // Why a trampoline (fentry, fexit) or a kprobe on `symbol` cannot work; nullopt: worth trying.
  std::optional<std::string> no_trampoline(const std::string& symbol) const;
  std::optional<std::string> no_kprobe(const std::string& symbol) const;
  // Why trampolines would lose events here although they load; nullopt: they do not.
  std::optional<std::string> trampolines_lose() const;
  // Whether a tracing program may use a map that allocates as it goes.
  bool allocates_at_run_time() const;
  // Set where kprobes are for CAP_SYS_ADMIN only and we do not have it: what an attach that was refused means.
  static std::optional<std::string> kprobes_restricted();

 private:
  std::string sys_root_;
  std::map<std::string, int, std::less<>> symbols_;  // name → how often
  bool kallsyms_read_ = false;
  bool btf_allowed_ = false;
  btf* kernel_btf_ = nullptr;
  btf* module_btf_ = nullptr;  // on top of kernel_btf_; null: none
};

// Can kernel code be preempted on this kernel? From `uname -v`, debugfs sched/preempt ("none (voluntary) full"; may be empty)
// and the kernel's command line. Where it cannot be told: yes.
bool kernel_preempts(std::string_view version, std::string_view sched_preempt, std::string_view command_line);

// The build id of a module's notes file, in hexadecimal; empty if there is none.
std::string parse_build_id(std::string_view notes);

}  // namespace qpscope
