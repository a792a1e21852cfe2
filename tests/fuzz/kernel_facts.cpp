// SPDX-License-Identifier: Apache-2.0
// What the kernel says of itself: an ELF note for the build id, and three texts (by line) for whether it preempts its own code.
#include "bpf/kernel_facts.h"

#include "fuzz/fuzz.h"

using namespace qpscope;
using fuzz::check;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::text_of(data, size);
  const std::string id = parse_build_id(text);
  check(id.size() <= 2 * size && id.size() % 2 == 0, "a build id is no longer than its note");
  check(id.find_first_not_of("0123456789abcdef") == std::string::npos, "a build id is hexadecimal");

  const std::string_view version = fuzz::next_line(text), preempt = fuzz::next_line(text);
  const bool preempts = kernel_preempts(version, preempt, text);
  check(!preempts || version.contains("PREEMPT"), "only a kernel that can preempt does");
  return 0;
}
