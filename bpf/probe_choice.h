// SPDX-License-Identifier: Apache-2.0
// The rows of the probe table on their way through their alternatives.
#pragma once

#include <bpf/libbpf.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bpf/kernel_facts.h"
#include "bpf/probe_set.h"
#include "bpf/probe_table.h"

namespace qpscope {

struct ObjectCloser {
  void operator()(bpf_object* object) const { bpf_object__close(object); }
};
using ObjectPtr = std::unique_ptr<bpf_object, ObjectCloser>;

// The embedded BPF object, opened, with no program chosen; `types`: a file with the BTF to be used for CO-RE, or nullptr for the running
// kernel's. Null with errno set.
ObjectPtr open_object(const char* types = nullptr);

// A BPF program by what its SEC() name says.
struct Program {
  std::string name, kind, symbol;
  bool trampoline() const { return kind == "fentry" || kind == "fexit"; }
  bool kprobe() const { return kind == "kprobe" || kind == "kretprobe"; }
};
using Alternative = std::vector<Program>;

std::string how(const Alternative& programs);     // "fexit", "fentry", "kprobe", "raw_tp"
std::string target(const Alternative& programs);  // "ib_modify_qp,ib_modify_qp_with_udata"

class Choice {
 public:
  Choice(const ProbeRow& row, std::vector<Alternative> alternatives) : row_(&row), alternatives_(std::move(alternatives)) {}

  const ProbeRow& row() const { return *row_; }
  bool off() const { return current_ >= alternatives_.size(); }
  const Alternative& programs() const { return alternatives_[current_]; }  // only while not off

  // The current alternative is not to be had: on to the next, or off. Reasons add up.
  void next(const std::string& why);
  void switch_off(std::string why, bool waiting = false);
  // Passes over what cannot work on this kernel. `no_trampolines`: why none is wanted.
  void skip_implausible(const std::optional<std::string>& no_trampolines, const KernelFacts& facts);
  ProbeStatus status() const;
  // Appends every kernel symbol that any alternative attaches to.
  void collect_symbols(std::vector<std::string>& out) const;

 private:
  const ProbeRow* row_;
  std::vector<Alternative> alternatives_;
  std::size_t current_ = 0;
  bool waiting_ = false;
  std::string reason_;
};

// One for each row, at its first alternative.
std::vector<Choice> all_choices();

}  // namespace qpscope
