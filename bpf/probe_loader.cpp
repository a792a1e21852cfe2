// SPDX-License-Identifier: Apache-2.0
#include "bpf/probe_loader.h"

#include <bpf/bpf.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "bpf/bpf_log.h"
#include "bpf/vendor_layouts.h"

namespace qpscope {
namespace {

// Entries of qp_serials where they must be allocated in advance, at about 80 bytes each.
constexpr std::size_t kPreallocatedSerials = 65536;

class Loader {
 public:
  Loader(const ProbeOptions& options, std::vector<Choice>& choices, const KernelFacts& facts, const VendorLayouts& layouts,
         const ModuleIdentities& modules)
      : options_(options), choices_(choices), facts_(facts), layouts_(layouts), modules_(modules) {}

  LoadedProbes run() {
    judge_modules();
    LoadedProbes out;
    // Every failed turn takes an alternative away from at least one probe, so this ends.
    while (choose() && !load(out)) {
      out.links.clear();
      out.object.reset();
    }
    for (const auto& choice : choices_) out.status.push_back(choice.status());
    return out;
  }

 private:
  void judge_modules() {
    for (auto& choice : choices_) {
      const std::string module(module_of(choice.row().feature));
      if (module.empty()) continue;
      if (!loaded(module)) {
        choice.switch_off(module + " is not loaded", true);
      } else if (const auto why = layouts_.why_not(module)) {
        choice.switch_off(*why);
      }
    }
  }

  bool loaded(const std::string& module) const { return modules_.at(module) != 0; }

  // False: nothing is left to load.
  bool choose() {
    const auto no_trampolines = options_.trampolines ? facts_.trampolines_lose() : std::optional<std::string>("switched off");
    const std::optional<std::string> types_unknown("the kernel does not know its types");
    for (auto& choice : choices_) choice.skip_implausible(layouts_.used(std::string(module_of(choice.row().feature))) ? types_unknown : no_trampolines, facts_);
    all_or_none(Feature::qp);
    all_or_none(Feature::devx);
    return std::any_of(choices_.begin(), choices_.end(), [](const Choice& choice) { return !choice.off(); });
  }

  void all_or_none(Feature feature) {
    const auto is_one = [feature](const Choice& choice) { return choice.row().feature == feature; };
    const auto lost = std::find_if(choices_.begin(), choices_.end(), [&](const Choice& c) { return is_one(c) && c.off(); });
    if (lost == choices_.end()) return;
    const std::string why = "useless without " + std::string(lost->row().probe) + ", which is off";
    for (auto& choice : choices_) {
      if (is_one(choice) && !choice.off()) choice.switch_off(why);
    }
  }

  bool load(LoadedProbes& out) {
    out.object = open_object(layouts_.btf_path());
    if (!out.object) return switch_all_off(errno_name(errno));
    for (const auto& choice : choices_) select(out.object.get(), choice);
    set_entries(out.object.get(), "events", options_.ring_bytes);
    set_serials(out.object.get());
    log_.clear();
    const int error = bpf_object__load(out.object.get());
    if (error) {
      const std::string why = log_.reason(-error);
      return pass_over_culprits() ? false : switch_all_off(why);
    }
    start_serials(out.object.get());
    bool all = true;
    for (auto& choice : choices_) {
      if (!choice.off()) all = attach(out, choice) && all;
    }
    return all;
  }

  // By the time, in units in which no processor makes a QP: above every serial of an earlier set of probes, whose QPs may still live.
  static void start_serials(const bpf_object* object) {
    constexpr std::uint64_t unit_ns = 100'000, most = (std::uint64_t{1} << 40) - 1;
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    const std::uint64_t start = (static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec)) / unit_ns & most;
    const std::vector<std::uint64_t> per_cpu(static_cast<std::size_t>(std::max(libbpf_num_possible_cpus(), 1)), start);
    const __u32 zero = 0;
    bpf_map_update_elem(bpf_object__find_map_fd_by_name(object, "serials_given"), &zero, per_cpu.data(), BPF_ANY);
  }

  bool switch_all_off(const std::string& why) {
    for (auto& choice : choices_) {
      if (!choice.off()) choice.switch_off(why);
    }
    return false;
  }

  static void select(bpf_object* object, const Choice& choice) {
    if (choice.off()) return;
    for (const auto& program : choice.programs()) {
      bpf_program__set_autoload(bpf_object__find_program_by_name(object, program.name.c_str()), true);
    }
  }

  static void set_entries(bpf_object* object, const char* map, std::size_t entries) {
    bpf_map__set_max_entries(bpf_object__find_map_by_name(object, map), static_cast<__u32>(entries));
  }

  void set_serials(bpf_object* object) const {
    if (facts_.allocates_at_run_time()) return;
    bpf_map__set_map_flags(bpf_object__find_map_by_name(object, "qp_serials"), 0);
    set_entries(object, "qp_serials", loaded("ib_core") ? kPreallocatedSerials : 1);
  }

  // Loads each chosen probe by itself and takes the alternative away from those that fail. False: none did.
  bool pass_over_culprits() {
    bool found = false;
    for (auto& choice : choices_) {
      if (choice.off()) continue;
      const ObjectPtr object = open_object(layouts_.btf_path());
      if (!object) return false;
      select(object.get(), choice);
      set_entries(object.get(), "events", static_cast<std::size_t>(getpagesize()));
      set_serials(object.get());
      set_entries(object.get(), "qp_serials", 1);
      set_entries(object.get(), "flights", 1);
      log_.clear();
      const int error = bpf_object__load(object.get());
      if (!error) continue;
      choice.next("does not load: " + log_.reason(-error));
      found = true;
    }
    return found;
  }

  bool attach(LoadedProbes& out, Choice& choice) {
    for (const auto& program : choice.programs()) {
      log_.clear();
      LinkPtr link(bpf_program__attach(bpf_object__find_program_by_name(out.object.get(), program.name.c_str())));
      if (!link) {
        const int error = errno;
        const auto restricted = program.kprobe() && error == EACCES ? KernelFacts::kprobes_restricted() : std::nullopt;
        choice.next(restricted ? *restricted : "does not attach: " + log_.reason(error));
        return false;
      }
      out.links.push_back(std::move(link));
    }
    return true;
  }

  const ProbeOptions& options_;
  std::vector<Choice>& choices_;
  const KernelFacts& facts_;
  const VendorLayouts& layouts_;
  const ModuleIdentities& modules_;
  BpfLog log_;
};

}  // namespace

ModuleIdentities module_identities(const std::string& sys_root) {
  ModuleIdentities out;
  for (const auto& row : probe_table()) {
    const std::string module(module_of(row.feature));
    if (!module.empty()) out.emplace(module, module_identity(sys_root, module));
  }
  return out;
}

LoadedProbes load_probes(const ProbeOptions& options) {
  // Before anything else is looked at: what changes from here on is noticed later.
  ModuleIdentities modules = module_identities(options.sys_root);
  std::vector<Choice> choices = all_choices();
  std::vector<std::string> symbols, names;
  for (const auto& choice : choices) choice.collect_symbols(symbols);
  for (const auto& [module, identity] : modules) names.push_back(module);
  const KernelFacts facts(options.sys_root, symbols, names);
  const VendorLayouts layouts(facts, names, options.layout_folders);
  LoadedProbes out = Loader(options, choices, facts, layouts, modules).run();
  out.modules = std::move(modules);
  return out;
}

}  // namespace qpscope
