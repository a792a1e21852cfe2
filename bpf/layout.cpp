// SPDX-License-Identifier: Apache-2.0
#include "bpf/layout.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

namespace qpscope {
namespace {

using Kind = LayoutMember::Kind;

constexpr std::string_view kFirstLine = "qpscope-layout 1";
constexpr std::size_t kMostRecords = 256, kMostMembers = 1024;
constexpr std::uint32_t kMostSize = 1U << 20;  // of a struct: a bit offset has 24 bits in BTF

struct KindName {
  Kind kind;
  std::string_view name;
};
constexpr KindName kKinds[] = {{Kind::pointer, "pointer"}, {Kind::signed_number, "signed"}, {Kind::unsigned_number, "unsigned"},
                               {Kind::enumeration, "enum"}, {Kind::record, "record"}, {Kind::bytes, "bytes"}};

std::string_view name_of(Kind kind) { return std::ranges::find(kKinds, kind, &KindName::kind)->name; }

bool is_name(std::string_view text) {
  const auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && text.size() <= 128 && std::ranges::all_of(text, good);
}

bool is_build_id(std::string_view text) {
  return text.size() >= 16 && text.size() <= 128 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out > kMostSize) return std::nullopt;
  return out;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  while (true) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return out;
    line.remove_prefix(begin);
    const auto end = std::min(line.find_first_of(" \t"), line.size());
    out.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

class Parser {
 public:
  Result<Layout> run(std::string_view text) {
    if (text.size() > Layout::kMostBytes) return fail(ErrorCode::parse, "longer than " + std::to_string(Layout::kMostBytes) + " bytes");
    while (!text.empty()) {
      const auto end = text.find('\n');
      if (end == std::string_view::npos) return fail(ErrorCode::parse, "cut within line " + std::to_string(line_ + 1));
      ++line_;
      const std::string why = take(text.substr(0, end));
      if (!why.empty()) return fail(ErrorCode::parse, "line " + std::to_string(line_) + ": " + why);
      text.remove_prefix(end + 1);
    }
    if (!ended_) return fail(ErrorCode::parse, "cut: no line \"end\"");
    if (const std::string why = whole(); !why.empty()) return fail(ErrorCode::parse, why);
    return std::move(out_);
  }

 private:
  // Empty: good.
  std::string take(std::string_view line) {
    if (line_ == 1) return line == kFirstLine ? "" : "not \"" + std::string(kFirstLine) + "\"";
    const auto words = words_of(line);
    if (words.empty() || words[0].starts_with('#')) return {};
    if (ended_) return "something after the end";
    if (line.front() == ' ') return member(words);
    if (words.size() == 2 && words[0] == "module" && out_.module.empty() && is_name(words[1])) return out_.module = words[1], "";
    if (words.size() == 2 && words[0] == "build-id" && out_.build_id.empty() && is_build_id(words[1])) return out_.build_id = words[1], "";
    if (words.size() == 3 && (words[0] == "struct" || words[0] == "union")) return record(words);
    if (words.size() == 3 && words[0] == "end") return end(words);
    return "neither module, build-id, struct, union nor end";
  }

  std::string record(std::span<const std::string_view> words) {
    const auto size = number(words[2]);
    if (!is_name(words[1]) || !size || *size == 0) return "no struct: NAME SIZE";
    if (std::ranges::find(out_.records, words[1], &LayoutRecord::name) != out_.records.end()) return "a second " + std::string(words[1]);
    if (out_.records.size() == kMostRecords) return "too many structs";
    out_.records.push_back({.is_union = words[0] == "union", .name = std::string(words[1]), .size = *size, .members = {}});
    return {};
  }

  // NAME OFFSET[.BIT] KIND [SIZE] [NAME_OF_TYPE] ["[" COUNT "]" | ":" BITS], see layouts/README.md.
  std::string member(std::span<const std::string_view> words) {
    if (out_.records.empty()) return "a member of no struct";
    LayoutRecord& of = out_.records.back();
    if (words.size() < 4) return "no member: NAME OFFSET KIND SIZE";
    LayoutMember out{.name = std::string(words[0])};
    const auto dot = words[1].find('.');
    const auto byte = number(words[1].substr(0, dot)), bit = dot == std::string_view::npos ? 0 : number(words[1].substr(dot + 1));
    const auto kind = std::ranges::find(kKinds, words[2], &KindName::name);
    const auto size = number(words[3]);
    if (!is_name(words[0]) || !byte || !bit || *bit > 7 || kind == std::end(kKinds) || !size) return "no member: NAME OFFSET KIND SIZE";
    out.bit_offset = *byte * 8 + *bit;
    out.kind = kind->kind;
    out.size = *size;
    for (const std::string_view word : words.subspan(4)) {
      const bool last = word.data() == words.back().data();
      if (last && word.size() > 2 && word.starts_with('[') && word.ends_with(']')) {
        const auto count = number(word.substr(1, word.size() - 2));
        if (!count) return "no count of elements";
        out.array = true;
        out.count = *count;
      } else if (last && word.starts_with(':')) {
        const auto bits = number(word.substr(1));
        if (!bits || *bits == 0 || *bits > 64 || *bits > out.size * 8) return "no count of bits";
        out.bits = *bits;
      } else if (out.type.empty() && is_name(word)) {
        out.type = word;
      } else {
        return "not understood: what comes after the size";
      }
    }
    const std::uint64_t bits = out.bits ? out.bits : std::uint64_t{out.size} * out.count * 8;
    if (out.bit_offset + bits > std::uint64_t{of.size} * 8) return out.name + " is not within " + of.name;
    if (std::ranges::find(of.members, out.name, &LayoutMember::name) != of.members.end()) return "a second " + out.name + " in " + of.name;
    const bool a_number = out.kind == Kind::signed_number || out.kind == Kind::unsigned_number || out.kind == Kind::enumeration;
    if (a_number && out.size != 1 && out.size != 2 && out.size != 4 && out.size != 8 && out.size != 16) return "no size of a number";
    if (out.kind == Kind::pointer && out.size != 8) return "a pointer has 8 bytes";
    if (!a_number && out.bits) return "bits of no number";
    if ((out.kind == Kind::record) && out.type.empty()) return "a record without its name";
    if (of.members.size() == kMostMembers) return "too many members";
    of.members.push_back(std::move(out));
    ++members_;
    return {};
  }

  std::string end(std::span<const std::string_view> words) {
    if (number(words[1]) != out_.records.size() || number(words[2]) != members_) return "other counts of structs and members than are there: something is missing";
    ended_ = true;
    return {};
  }

  std::string whole() const {
    if (out_.module.empty()) return "no module";
    if (out_.build_id.empty()) return "no build-id";
    for (const LayoutRecord& record : out_.records) {
      for (const LayoutMember& member : record.members) {
        if (member.kind != Kind::record) continue;
        const auto type = std::ranges::find(out_.records, member.type, &LayoutRecord::name);
        if (type == out_.records.end()) return record.name + "." + member.name + ": " + member.type + " is missing";
        if (type->size != member.size) return record.name + "." + member.name + ": " + member.type + " has another size";
      }
    }
    return {};
  }

  Layout out_;
  std::size_t line_ = 0, members_ = 0;
  bool ended_ = false;
};

}  // namespace

Result<Layout> parse_layout(std::string_view text) { return Parser().run(text); }

std::string layout_text(const Layout& layout) {
  std::ostringstream out;
  std::size_t members = 0;
  out << kFirstLine << "\nmodule " << layout.module << "\nbuild-id " << layout.build_id << '\n';
  for (const LayoutRecord& record : layout.records) {
    out << '\n' << (record.is_union ? "union " : "struct ") << record.name << ' ' << record.size << '\n';
    for (const LayoutMember& member : record.members) {
      out << "  " << member.name << ' ' << member.bit_offset / 8;
      if (member.bit_offset % 8) out << '.' << member.bit_offset % 8;
      out << ' ' << name_of(member.kind) << ' ' << member.size;
      if (!member.type.empty()) out << ' ' << member.type;
      if (member.array) out << " [" << member.count << ']';
      if (member.bits) out << " :" << member.bits;
      out << '\n';
    }
    members += record.members.size();
  }
  out << "\nend " << layout.records.size() << ' ' << members << '\n';
  return std::move(out).str();
}

}  // namespace qpscope
