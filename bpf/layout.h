// SPDX-License-Identifier: Apache-2.0
// How the structs of one build of a module lie in memory: an entry of bpf/layouts (its README.md has the format). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

struct btf;

namespace qpscope {

struct LayoutMember {
  enum class Kind : unsigned char { pointer, signed_number, unsigned_number, enumeration, record, bytes };
  std::string name;
  std::uint32_t bit_offset = 0;  // from the start of the struct, also for what is in an unnamed part of it
  Kind kind = Kind::bytes;
  std::uint32_t size = 0;   // of one element, in bytes
  std::string type = {};    // the name of an enum (may be empty), struct or union
  bool array = false;
  std::uint32_t count = 1;  // of the array's elements; 0: as many as there are
  std::uint32_t bits = 0;   // of a bit field
  bool operator==(const LayoutMember&) const = default;
};

struct LayoutRecord {
  bool is_union = false;
  std::string name;
  std::uint32_t size = 0;
  std::vector<LayoutMember> members;
  bool operator==(const LayoutRecord&) const = default;
};

struct Layout {
  static constexpr std::size_t kMostBytes = 1U << 20;  // of text

  std::string module, build_id;
  std::vector<LayoutRecord> records;
  bool operator==(const Layout&) const = default;
};

// An error names the line. What it takes is whole: every record's size, every member within its record, no name twice.
Result<Layout> parse_layout(std::string_view text);
std::string layout_text(const Layout& layout);

// Those of `wanted` that the BTF of a module has, each with all its members. Types from `own` on are the module's own and go before those that its
// BTF is based on. An error: the module has a struct of one name in two forms.
Result<std::vector<LayoutRecord>> records_of(const btf* types, std::uint32_t own, const std::set<std::string>& wanted);

// Takes `hidden` structs out of the kernel's types and puts `records` in.
Result<> replace_records(btf* types, const std::set<std::string>& hidden, std::span<const LayoutRecord> records);

}  // namespace qpscope
