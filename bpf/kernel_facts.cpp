// SPDX-License-Identifier: Apache-2.0
#include "bpf/kernel_facts.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace qpscope {
namespace {

// Before 6.1, which brought this allocator, the kernel warns (and a host with panic_on_warn dies) when a tracing
// program uses a BPF_F_NO_PREALLOC map ("trace type BPF program uses run-time allocation", seen on 5.10).
constexpr char kRunTimeAllocator[] = "bpf_mem_alloc_init";

bool has_capability(unsigned number) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capget, &header, data) != 0) return false;
  return (data[number / 32].effective >> (number % 32) & 1) != 0;
}

std::string missing_capabilities() {
  if (has_capability(CAP_SYS_ADMIN)) return "";
  const bool bpf = has_capability(CAP_BPF), perfmon = has_capability(CAP_PERFMON);
  if (bpf && perfmon) return "";
  return bpf ? "CAP_PERFMON" : perfmon ? "CAP_BPF" : "CAP_BPF and CAP_PERFMON";
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

// How often each name is in /proc/kallsyms ("address type name [module]"). Names show even where addresses are hidden.
bool count_symbols(std::map<std::string, int, std::less<>>& symbols) {
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/kallsyms", "re"), &std::fclose);
  if (!file) return false;
  char line[1024];
  while (std::fgets(line, sizeof(line), file.get())) {
    const char* name = std::strchr(line, ' ');
    name = name ? std::strchr(name + 1, ' ') : nullptr;
    if (!name) continue;
    ++name;
    const auto found = symbols.find(std::string_view(name, std::strcspn(name, " \t\n")));
    if (found != symbols.end()) ++found->second;
  }
  return true;
}

}  // namespace

Result<> bpf_usable() {
  // The smallest program of a kind that wants both capabilities.
  bpf_insn code[2] = {};
  code[0] = {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .src_reg = 0, .off = 0, .imm = 0};
  code[1] = {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0};
  const int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "qpscope_try", "GPL", code, 2, nullptr);
  if (fd >= 0) {
    close(fd);
    return {};
  }
  const int error = -fd;
  if (error == ENOSYS) return fail(ErrorCode::unsupported, "this kernel has no bpf system call (CONFIG_BPF_SYSCALL)", error);
  if (error != EPERM && error != EACCES) return std::unexpected(io_error("loading a trial BPF program", error));
  const std::string missing = missing_capabilities();
  if (missing.empty()) {
    return fail(ErrorCode::permission,
                "the kernel refuses BPF although the capabilities are there: look for a seccomp filter, a security module, "
                "lockdown, or (before Linux 5.11) a memory lock limit without CAP_SYS_RESOURCE",
                error);
  }
  return fail(ErrorCode::permission,
              "BPF needs " + missing + " (before Linux 5.8: CAP_SYS_ADMIN): run as root, or give the service these capabilities", error);
}

KernelFacts::KernelFacts(std::string sys_root, std::span<const std::string> symbols, std::span<const std::string> modules)
    : sys_root_(std::move(sys_root)) {
  for (const auto& symbol : symbols) symbols_.emplace(symbol, 0);
  symbols_.emplace(kRunTimeAllocator, 0);
  const auto loaded = [this](const std::string& module) { return module_identity(sys_root_, module) != 0; };
  if (std::ranges::none_of(modules, loaded)) return;
  kallsyms_read_ = count_symbols(symbols_);
  // The load needs the descriptor of the module's BTF, and the kernel hands those out to CAP_SYS_ADMIN only
  // (kernel/bpf/syscall.c bpf_obj_get_next_id, bpf_btf_get_fd_by_id).
  __u32 id = 0;
  btf_allowed_ = bpf_btf_get_next_id(0, &id) != -EPERM;
  if (!btf_allowed_) return;
  kernel_btf_ = btf__load_vmlinux_btf();
  if (!kernel_btf_) return;
  for (const auto& module : modules) {
    if (!loaded(module)) continue;
    if (btf* found = btf__load_module_btf(module.c_str(), kernel_btf_)) module_btf_.emplace(module, found);
  }
}

KernelFacts::~KernelFacts() {
  for (const auto& [module, loaded] : module_btf_) btf__free(loaded);
  btf__free(kernel_btf_);
}

std::uint64_t module_identity(const std::string& sys_root, const std::string& module) {
  const std::string folder = sys_root + "/module/" + module;
  // A module that is built into the kernel has no such file.
  const std::string state = read_file(folder + "/initstate");
  struct stat info {};
  if ((!state.empty() && !state.starts_with("live")) || stat(folder.c_str(), &info) != 0) return 0;
  return info.st_ino;
}

std::optional<std::string> KernelFacts::foreign_build_id(const std::string& module) const {
  const std::string folder = sys_root_ + "/module/" + module;
  if (read_file(folder + "/taint").find('O') == std::string::npos) return std::nullopt;
  return parse_build_id(read_file(folder + "/notes/.note.gnu.build-id"));
}

std::optional<std::string> KernelFacts::no_trampoline(const std::string& symbol, const std::string& module) const {
  if (!btf_allowed_) return "needs CAP_SYS_ADMIN";
  if (!kernel_btf_) return "the kernel has no BTF";
  const auto own = module_btf_.find(module);
  // Built into the kernel, a module has no BTF of its own.
  const btf* where = own != module_btf_.end() ? own->second : kernel_btf_;
  if (btf__find_by_name_kind(where, symbol.c_str(), BTF_KIND_FUNC) > 0) return std::nullopt;
  return own != module_btf_.end() ? "not in the BTF of " + module : module + " has no BTF";
}

std::optional<std::string> KernelFacts::no_kprobe(const std::string& symbol) const {
  if (!kallsyms_read_) return std::nullopt;
  const auto found = symbols_.find(symbol);
  if (found == symbols_.end() || found->second == 0) return "no such symbol";
  if (found->second > 1) return "several symbols of that name";
  return std::nullopt;
}

std::optional<std::string> KernelFacts::trampolines_lose() const {
  utsname name{};
  uname(&name);
  if (!kernel_preempts(name.version, read_file(sys_root_ + "/kernel/debug/sched/preempt"), read_file("/proc/cmdline"))) return std::nullopt;
  return "this kernel preempts its own code, and a trampoline program that is preempted loses the calls of others on its CPU";
}

bool kernel_preempts(std::string_view version, std::string_view sched_preempt, std::string_view command_line) {
  const auto has = [](std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; };
  if (!has(version, "PREEMPT")) return false;
  if (!has(version, "PREEMPT_DYNAMIC")) return true;  // PREEMPT, PREEMPT_RT, PREEMPT_LAZY
  if (has(sched_preempt, "(")) return !has(sched_preempt, "(none)") && !has(sched_preempt, "(voluntary)");
  return !has(command_line, "preempt=none") && !has(command_line, "preempt=voluntary");
}

bool KernelFacts::allocates_at_run_time() const { return symbols_.find(kRunTimeAllocator)->second > 0; }

std::optional<std::string> KernelFacts::kprobes_restricted() {
  // Debian's kernels know levels above 2, and from there on CAP_PERFMON does not do: perf_event_open says EACCES without
  // CAP_SYS_ADMIN (seen on 5.10, 6.1, 6.12, 7.3 with the level at 3).
  constexpr int paranoid_any = 3;
  std::string level = read_file("/proc/sys/kernel/perf_event_paranoid");
  while (!level.empty() && level.back() == '\n') level.pop_back();
  if (has_capability(CAP_SYS_ADMIN) || std::atoi(level.c_str()) < paranoid_any) return std::nullopt;
  return "needs CAP_SYS_ADMIN, since kernel.perf_event_paranoid is " + level + " (2 would do)";
}

std::string parse_build_id(std::string_view notes) {
  // ELF notes: name size, descriptor size, type (3: GNU build id), then both padded to 4 bytes.
  constexpr std::uint32_t build_id_type = 3;
  std::uint32_t header[3];
  while (notes.size() >= sizeof(header)) {
    std::memcpy(header, notes.data(), sizeof(header));
    notes.remove_prefix(sizeof(header));
    const std::size_t name = (std::size_t{header[0]} + 3) & ~std::size_t{3};
    const std::size_t padded = (std::size_t{header[1]} + 3) & ~std::size_t{3};
    if (name > notes.size() || header[1] > notes.size() - name) return "";
    if (header[2] == build_id_type && notes.substr(0, header[0]) == std::string_view("GNU\0", 4)) {
      std::string hex;
      for (const char c : notes.substr(name, header[1])) {
        constexpr char digits[] = "0123456789abcdef";
        hex += digits[static_cast<unsigned char>(c) >> 4];
        hex += digits[static_cast<unsigned char>(c) & 15];
      }
      return hex;
    }
    notes.remove_prefix(std::min(notes.size(), name + padded));
  }
  return "";
}

}  // namespace qpscope
