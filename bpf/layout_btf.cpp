// SPDX-License-Identifier: Apache-2.0
// Layouts out of BTF and into it.
#include <bpf/btf.h>
#include <linux/btf.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "bpf/layout.h"

namespace qpscope {
namespace {

using Kind = LayoutMember::Kind;

constexpr int kMostNested = 16;  // unnamed structs within one another

bool is_record(const btf_type* type) { return btf_is_struct(type) || btf_is_union(type); }

class Reader {
 public:
  Reader(const btf* types, std::uint32_t own, const std::set<std::string>& wanted) : types_(types), own_(own), wanted_(wanted) {}

  Result<std::vector<LayoutRecord>> run() {
    const std::uint32_t all = btf__type_cnt(types_);
    // The module's own first.
    for (std::uint32_t id = std::max(own_, 1U); id < all; ++id) look_at(id);
    for (std::uint32_t id = 1; id < std::min(own_, all); ++id) look_at(id);
    std::vector<LayoutRecord> out;
    for (const auto& [name, id] : found_) {
      LayoutRecord record = read(id);
      for (const auto [begin, end] = others_.equal_range(name); const auto& other : std::ranges::subrange(begin, end)) {
        if (read(other.second) != record) return fail(ErrorCode::parse, "it has two different " + name);
      }
      out.push_back(std::move(record));
    }
    return out;
  }

 private:
  std::string name(const btf_type* type) const { return btf__name_by_offset(types_, type->name_off); }

  void look_at(std::uint32_t id) {
    const btf_type* type = btf__type_by_id(types_, id);
    if (!is_record(type) || type->name_off == 0 || !wanted_.contains(name(type))) return;
    if (const auto [known, is_new] = found_.emplace(name(type), id); !is_new && (known->second >= own_) == (id >= own_)) others_.emplace(known->first, id);
  }

  LayoutRecord read(std::uint32_t id) const {
    const btf_type* type = btf__type_by_id(types_, id);
    LayoutRecord out{.is_union = btf_is_union(type), .name = name(type), .size = type->size, .members = {}};
    add_members(out, type, 0, kMostNested);
    return out;
  }

  void add_members(LayoutRecord& out, const btf_type* type, std::uint32_t offset, int depth) const {
    const btf_member* members = btf_members(type);
    for (__u16 i = 0; i < btf_vlen(type); ++i) {
      const std::uint32_t at = offset + btf_member_bit_offset(type, i);
      const int of = btf__resolve_type(types_, members[i].type);
      const btf_type* of_type = btf__type_by_id(types_, static_cast<__u32>(std::max(of, 0)));
      const std::string member = btf__name_by_offset(types_, members[i].name_off);
      if (!member.empty()) {
        out.members.push_back(describe(member, at, btf_member_bitfield_size(type, i), static_cast<__u32>(std::max(of, 0))));
      } else if (is_record(of_type) && depth > 0) {
        add_members(out, of_type, at, depth - 1);
      }
    }
  }

  LayoutMember describe(std::string member, std::uint32_t at, std::uint32_t bits, __u32 id) const {
    LayoutMember out{.name = std::move(member), .bit_offset = at, .bits = bits};
    const btf_type* type = btf__type_by_id(types_, id);
    const __u32 whole = id;
    if (btf_is_array(type)) {
      out.array = true;
      out.count = btf_array(type)->nelems;
      id = static_cast<__u32>(std::max(btf__resolve_type(types_, btf_array(type)->type), 0));
      type = btf__type_by_id(types_, id);
    }
    out.size = size_of(id);
    if (btf_is_ptr(type)) {
      out.kind = Kind::pointer;
    } else if (btf_is_int(type)) {
      out.kind = btf_int_encoding(type) & BTF_INT_SIGNED ? Kind::signed_number : Kind::unsigned_number;
    } else if (btf_is_any_enum(type)) {
      out.kind = Kind::enumeration;
      out.type = name(type);
    } else if (is_record(type) && found_.contains(name(type))) {
      out.kind = Kind::record;
      out.type = name(type);
      out.size = btf__type_by_id(types_, found_.find(name(type))->second)->size;
    } else {
      // Nothing we could look into.
      out.array = false;
      out.count = 1;
      out.size = size_of(whole);
    }
    return out;
  }

  std::uint32_t size_of(__u32 id) const { return static_cast<std::uint32_t>(std::max<__s64>(btf__resolve_size(types_, id), 0)); }

  const btf* types_;
  const std::uint32_t own_;
  const std::set<std::string>& wanted_;
  std::map<std::string, std::uint32_t> found_;
  std::multimap<std::string, std::uint32_t> others_;  // of the same name and as much the module's own
};

// Ids come before the types: a struct's members refer to types that are added after all structs.
class Writer {
 public:
  Writer(btf* types, std::span<const LayoutRecord> records) : types_(types), records_(records), next_(btf__type_cnt(types)) {
    for (const LayoutRecord& record : records_) ids_.emplace(record.name, next_++);
  }

  Result<> run() {
    for (const LayoutRecord& record : records_) add(record);
    for (const Type& type : plan_) add(type);
    if (error_) return fail(ErrorCode::parse, "the types cannot be put together");
    return {};
  }

 private:
  struct Type {
    Kind kind;
    std::uint32_t size;
    std::string name;
    std::optional<std::uint32_t> count;  // of an array's elements
    std::uint32_t element = 0;
    auto operator<=>(const Type&) const = default;
  };

  void check(int id) { error_ = error_ || id < 0; }

  void add(const LayoutRecord& record) {
    check(record.is_union ? btf__add_union(types_, record.name.c_str(), record.size) : btf__add_struct(types_, record.name.c_str(), record.size));
    for (const LayoutMember& member : record.members) {
      check(btf__add_field(types_, member.name.c_str(), static_cast<int>(id_of(member)), member.bit_offset, member.bits));
    }
  }

  std::uint32_t id_of(const LayoutMember& member) {
    if (member.kind == Kind::bytes) return planned({.kind = Kind::bytes, .size = 1, .name = {}, .count = member.size * member.count, .element = byte()});
    const std::uint32_t one = member.kind == Kind::record ? ids_.find(member.type)->second
                                                          : planned({.kind = member.kind, .size = member.size, .name = member.type, .count = {}});
    return member.array ? planned({.kind = member.kind, .size = member.size, .name = {}, .count = member.count, .element = one}) : one;
  }

  std::uint32_t byte() { return planned({.kind = Kind::unsigned_number, .size = 1, .name = {}, .count = {}}); }

  std::uint32_t planned(Type type) {
    const auto [known, is_new] = planned_.emplace(type, next_);
    if (is_new) {
      plan_.push_back(std::move(type));
      ++next_;
    }
    return known->second;
  }

  void add(const Type& type) {
    if (type.count) return check(btf__add_array(types_, static_cast<int>(byte()), static_cast<int>(type.element), *type.count));
    switch (type.kind) {
      case Kind::pointer: return check(btf__add_ptr(types_, 0));
      case Kind::enumeration: return check(btf__add_enum(types_, type.name.c_str(), type.size));
      case Kind::signed_number: return check(btf__add_int(types_, "signed", type.size, BTF_INT_SIGNED));
      default: return check(btf__add_int(types_, "unsigned", type.size, 0));
    }
  }

  btf* types_;
  std::span<const LayoutRecord> records_;
  std::uint32_t next_;
  std::map<std::string, std::uint32_t> ids_;
  std::map<Type, std::uint32_t> planned_;
  std::vector<Type> plan_;
  bool error_ = false;
};

}  // namespace

Result<std::vector<LayoutRecord>> records_of(const btf* types, std::uint32_t own, const std::set<std::string>& wanted) { return Reader(types, own, wanted).run(); }

Result<> replace_records(btf* types, const std::set<std::string>& hidden, std::span<const LayoutRecord> records) {
  for (std::uint32_t id = 1; id < btf__type_cnt(types); ++id) {
    const btf_type* type = btf__type_by_id(types, id);
    if (!is_record(type) || !hidden.contains(btf__name_by_offset(types, type->name_off))) continue;
    // Without a name CO-RE does not find it. The memory is the BTF's own copy; libbpf only has no call for this.
    const_cast<btf_type*>(type)->name_off = 0;
  }
  return Writer(types, records).run();
}

}  // namespace qpscope
