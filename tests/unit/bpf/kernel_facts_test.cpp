// SPDX-License-Identifier: Apache-2.0
#include "bpf/kernel_facts.h"

#include <catch2/catch.hpp>
#include <string>

namespace qpscope {
namespace {

// One ELF note as the kernel writes it: sizes and type in host order, both parts padded to 4 bytes.
std::string note(std::uint32_t type, std::string name, std::string text) {
  const std::uint32_t header[3] = {static_cast<std::uint32_t>(name.size()), static_cast<std::uint32_t>(text.size()), type};
  name.resize((name.size() + 3) & ~std::size_t{3});
  text.resize((text.size() + 3) & ~std::size_t{3});
  return std::string(reinterpret_cast<const char*>(header), sizeof(header)) + name + text;
}

const std::string kGnu("GNU\0", 4);

}  // namespace

TEST_CASE("a build id is found among other notes", "[bpf.kernel_facts]") {
  const std::string id("\xde\xad\xbe\xef\x01", 5);
  CHECK(parse_build_id(note(3, kGnu, id)) == "deadbeef01");
  CHECK(parse_build_id(note(1, kGnu, "abcde") + note(3, "Linux", "x") + note(3, kGnu, id)) == "deadbeef01");
}

TEST_CASE("which kernels preempt themselves", "[bpf.kernel_facts]") {
  CHECK_FALSE(kernel_preempts("#1 SMP Debian 5.10.223-1 (2024-08-10)", "", ""));
  CHECK(kernel_preempts("#1 SMP PREEMPT Wed", "", ""));
  CHECK(kernel_preempts("#1 SMP PREEMPT_RT Debian 6.12", "", ""));
  CHECK(kernel_preempts("#1 SMP PREEMPT_LAZY Debian 7.3", "", ""));
  const std::string_view dynamic = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3 (2026-01-01)";
  CHECK_FALSE(kernel_preempts(dynamic, "none (voluntary) full \n", ""));
  CHECK_FALSE(kernel_preempts(dynamic, "(none) voluntary full \n", ""));
  CHECK(kernel_preempts(dynamic, "none voluntary (full) \n", "preempt=none"));
  CHECK(kernel_preempts(dynamic, "full (lazy) \n", ""));
  CHECK_FALSE(kernel_preempts(dynamic, "", "BOOT_IMAGE=/vmlinuz preempt=voluntary quiet"));
  CHECK(kernel_preempts(dynamic, "", "quiet"));
}

TEST_CASE("broken notes have no build id", "[bpf.kernel_facts]") {
  const std::string whole = note(3, kGnu, std::string(20, 'x'));
  for (std::size_t length = 0; length < whole.size(); ++length) CHECK(parse_build_id(whole.substr(0, length)).empty());
  CHECK(parse_build_id(note(1, kGnu, "abcd")).empty());
  CHECK(parse_build_id(std::string(64, '\xff')).empty());
}

}  // namespace qpscope
