// SPDX-License-Identifier: Apache-2.0
#include "bpf/probe_choice.h"

#include <algorithm>

#include "qpscope.skel.h"

namespace qpscope {
namespace {

Alternative parse_programs(bpf_object* object, std::string_view names) {
  Alternative out;
  while (!names.empty()) {
    const std::string name(names.substr(0, names.find(' ')));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    const std::string section = bpf_program__section_name(bpf_object__find_program_by_name(object, name.c_str()));
    const std::size_t slash = section.find('/');
    out.push_back({name, section.substr(0, slash), section.substr(slash + 1)});
  }
  return out;
}

std::optional<std::string> implausible(const Alternative& programs, const std::string& module, const std::optional<std::string>& no_trampolines,
                                       const KernelFacts& facts) {
  for (const auto& program : programs) {
    std::optional<std::string> why;
    if (program.trampoline()) why = no_trampolines ? no_trampolines : facts.no_trampoline(program.symbol, module);
    if (program.kprobe()) why = facts.no_kprobe(program.symbol);
    if (why) return program.symbol + ": " + *why;
  }
  return std::nullopt;
}

}  // namespace

ObjectPtr open_object(const char* types) {
  std::size_t size = 0;
  const void* bytes = qpscope_bpf__elf_bytes(&size);
  LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "qpscope", .btf_custom_path = types);
  ObjectPtr object(bpf_object__open_mem(bytes, size, &options));
  if (!object) return nullptr;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object.get()) bpf_program__set_autoload(program, false);
  return object;
}

std::string how(const Alternative& programs) {
  const Program& first = programs.front();
  return first.kprobe() ? "kprobe" : first.kind;
}

std::string target(const Alternative& programs) {
  std::vector<std::string> symbols;
  for (const auto& program : programs) symbols.push_back(program.symbol);
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  std::string out;
  for (const auto& symbol : symbols) out += (out.empty() ? "" : ",") + symbol;
  return out;
}

void Choice::next(const std::string& why) {
  reason_ += (reason_.empty() ? "" : "; ") + how(programs()) + " " + why;
  ++current_;
}

void Choice::switch_off(std::string why, bool waiting) {
  reason_ = std::move(why);
  waiting_ = waiting;
  current_ = alternatives_.size();
}

void Choice::skip_implausible(const std::optional<std::string>& no_trampolines, const KernelFacts& facts) {
  while (!off()) {
    const auto why = implausible(programs(), std::string(module_of(row_->feature)), no_trampolines, facts);
    if (!why) return;
    next(*why);
  }
}

ProbeStatus Choice::status() const {
  ProbeStatus out{.probe = std::string(row_->probe), .feature = std::string(to_string(row_->feature)), .how = "off", .target = target(alternatives_.front()),
                  .reason = "", .programs = {}};
  out.attached = !off();
  out.waiting = waiting_;
  if (off()) {
    out.reason = reason_;
  } else {
    out.how = how(programs());
    out.target = target(programs());
    for (const Program& program : programs()) out.programs.push_back(program.name);
  }
  return out;
}

void Choice::collect_symbols(std::vector<std::string>& out) const {
  for (const auto& programs : alternatives_) {
    for (const auto& program : programs) out.push_back(program.symbol);
  }
}

std::vector<Choice> all_choices() {
  std::vector<Choice> out;
  const ObjectPtr object = open_object();
  if (!object) return out;
  for (const auto& row : probe_table()) {
    std::vector<Alternative> alternatives;
    for (const auto names : row.alternatives) alternatives.push_back(parse_programs(object.get(), names));
    out.emplace_back(row, std::move(alternatives));
  }
  return out;
}

}  // namespace qpscope
