// SPDX-License-Identifier: Apache-2.0
// What the running kernel has for us to attach to: privileges, the state of modules, functions in BTF, symbols.
#pragma once

#include <cstdint>
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
  // Reads /proc/kallsyms once, for the given names, and the BTF of the given modules that are loaded.
  KernelFacts(std::string sys_root, std::span<const std::string> symbols, std::span<const std::string> modules);
  ~KernelFacts();
  KernelFacts(const KernelFacts&) = delete;
  KernelFacts& operator=(const KernelFacts&) = delete;

  // Set when the running module is not the one this kernel was built with: its build id, empty if it has none.
  std::optional<std::string> foreign_build_id(const std::string& module) const;

  // Why a trampoline (fentry, fexit) or a kprobe on `symbol` cannot work; nullopt: worth trying.
  std::optional<std::string> no_trampoline(const std::string& symbol, const std::string& module) const;
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
  std::map<std::string, btf*, std::less<>> module_btf_;  // on top of kernel_btf_; only those that have one
};

// Tells one load of a module from the next; 0: it is not loaded, or not ready yet (its functions cannot be traced before it is "live").
std::uint64_t module_identity(const std::string& sys_root, const std::string& module);

// Can kernel code be preempted on this kernel? From `uname -v`, debugfs sched/preempt ("none (voluntary) full"; may be empty)
// and the kernel's command line. Where it cannot be told: yes.
bool kernel_preempts(std::string_view version, std::string_view sched_preempt, std::string_view command_line);

// The build id of a module's notes file, in hexadecimal; empty if there is none.
std::string parse_build_id(std::string_view notes);

}  // namespace qpscope
