// SPDX-License-Identifier: Apache-2.0
// Layouts: what a damaged entry is told, and what goes from BTF into an entry and back.
#include "bpf/layout.h"

#include <bpf/btf.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "bpf/vendor_layouts.h"

using namespace qpscope;

namespace {

using Kind = LayoutMember::Kind;

const std::string kGood =
    "qpscope-layout 1\n"
    "module ib_core\n"
    "build-id 00112233445566778899aabbccddeeff00112233\n"
    "\n"
    "# of a test\n"
    "union ib_gid 16\n"
    "  raw 0 unsigned 1 [16]\n"
    "\n"
    "struct ib_qp 64\n"
    "  device 0 pointer 8\n"
    "  no_track 8.3 unsigned 1 :1\n"
    "  type 12 enum 4 ib_qp_type\n"
    "  gid 16 record 16 ib_gid\n"
    "  lock 32 bytes 24\n"
    "  values 64 unsigned 8 [0]\n"
    "end 2 7\n";

std::string with(const std::string& from, const std::string& to) {
  std::string out = kGood;
  const auto at = out.find(from);
  REQUIRE(at != std::string::npos);
  return out.replace(at, from.size(), to);
}

void refused(const std::string& text, const std::string& why) {
  const auto layout = parse_layout(text);
  INFO(text);
  REQUIRE_FALSE(layout);
  INFO(layout.error().what);
  CHECK(layout.error().what.find(why) != std::string::npos);
}

struct BtfFree {
  void operator()(btf* types) const { btf__free(types); }
};
using Types = std::unique_ptr<btf, BtfFree>;

// A kernel with a struct ib_qp {u32 qp_num; task_struct *task} and a struct task_struct.
Types kernel() {
  Types out(btf__new_empty());
  const int u32 = btf__add_int(out.get(), "unsigned int", 4, 0), task = btf__add_struct(out.get(), "task_struct", 4);
  btf__add_field(out.get(), "pid", u32, 0, 0);
  const int pointer = btf__add_ptr(out.get(), task);
  btf__add_struct(out.get(), "ib_qp", 16);
  btf__add_field(out.get(), "qp_num", u32, 0, 0);
  btf__add_field(out.get(), "task", pointer, 64, 0);
  return out;
}

}  // namespace

TEST_CASE("an entry is read and written as it is", "[bpf.layout]") {
  const auto layout = parse_layout(kGood);
  REQUIRE(layout);
  CHECK(layout->module == "ib_core");
  CHECK(layout->build_id == "00112233445566778899aabbccddeeff00112233");
  REQUIRE(layout->records.size() == 2);
  CHECK(layout->records[0].is_union);
  CHECK(layout->records[1].members[1] == LayoutMember{.name = "no_track", .bit_offset = 67, .kind = Kind::unsigned_number, .size = 1, .bits = 1});
  CHECK(layout->records[1].members[3] == LayoutMember{.name = "gid", .bit_offset = 128, .kind = Kind::record, .size = 16, .type = "ib_gid"});
  const auto again = parse_layout(layout_text(*layout));
  REQUIRE(again);
  CHECK(*again == *layout);
}

TEST_CASE("a damaged entry is refused and says where", "[bpf.layout]") {
  for (std::size_t length = 0; length < kGood.size(); ++length) {
    INFO(length);
    CHECK_FALSE(parse_layout(kGood.substr(0, length)));
  }
  refused("", "cut");
  refused(kGood.substr(0, kGood.find("end 2")), "cut: no line \"end\"");
  refused(kGood.substr(0, kGood.size() - 1), "cut within line 16");
  refused(with("qpscope-layout 1", "qpscope-layout 2"), "line 1");
  refused(with("  device 0 pointer 8\n", ""), "something is missing");
  refused(with("module ib_core\n", ""), "no module");
  refused(with("build-id 0011", "build-id XY11"), "line 3");
  refused(with("device 0", "device 60"), "line 10: device is not within ib_qp");
  refused(with("device 0", "device 4294967295"), "line 10");
  refused(with("lock 32 bytes 24", "device 32 bytes 24"), "a second device");
  refused(with("struct ib_qp 64", "struct ib_gid 64"), "a second ib_gid");
  refused(with("record 16 ib_gid", "record 16 ib_gone"), "ib_gone is missing");
  refused(with("record 16 ib_gid", "record 8 ib_gid"), "another size");
  refused(with("pointer 8", "pointer 4"), "a pointer has 8 bytes");
  refused(with("enum 4", "enum 3"), "no size of a number");
  refused(with(":1\n", ":9\n"), "no count of bits");
  refused(with("[16]", "[99999999999]"), "no count of elements");
  refused(kGood + "more\n", "after the end");
  refused(std::string(Layout::kMostBytes + 1, '\n'), "longer than");
}

TEST_CASE("the module's own structs go before the kernel's", "[bpf.layout]") {
  const Types base = kernel();
  const Types module(btf__new_empty_split(base.get()));
  const auto own = btf__type_cnt(base.get());
  CHECK(records_of(base.get(), own, {"ib_qp"})->at(0).members[0].bit_offset == 0);
  btf__add_struct(module.get(), "", 8);
  btf__add_field(module.get(), "device", btf__find_by_name(module.get(), "unsigned int"), 32, 0);
  btf__add_struct(module.get(), "ib_qp", 32);
  btf__add_field(module.get(), "qp_num", btf__find_by_name(module.get(), "unsigned int"), 64, 0);
  btf__add_field(module.get(), "", static_cast<int>(own), 128, 0);
  const auto records = records_of(module.get(), own, {"ib_qp"});
  REQUIRE(records);
  REQUIRE(records->size() == 1);
  CHECK(records->at(0).size == 32);
  CHECK(records->at(0).members[0].bit_offset == 64);
  CHECK(records->at(0).members[1] == LayoutMember{.name = "device", .bit_offset = 160, .kind = Kind::unsigned_number, .size = 4});  // of the unnamed part

  btf__add_struct(module.get(), "ib_qp", 40);
  const auto two = records_of(module.get(), own, {"ib_qp"});
  REQUIRE_FALSE(two);
  CHECK(two.error().what.find("two different ib_qp") != std::string::npos);
}

TEST_CASE("an entry's structs take the place of the kernel's, and only those", "[bpf.layout]") {
  const Types types = kernel();
  const auto layout = parse_layout(kGood);
  REQUIRE(layout);
  REQUIRE(replace_records(types.get(), {"ib_qp", "ib_gid", "ib_qp_attr"}, layout->records));
  // As libbpf will see them.
  __u32 size = 0;
  const void* raw = btf__raw_data(types.get(), &size);
  const Types again(btf__new(raw, size));
  REQUIRE(again);
  const auto records = records_of(again.get(), 1, {"ib_qp", "ib_gid", "task_struct"});
  REQUIRE(records);  // one of each name: the kernel's ib_qp is not found any more
  REQUIRE(records->size() == 3);
  CHECK(records->at(0) == layout->records[0]);
  LayoutRecord expected = layout->records[1];
  expected.members[4] = {.name = "lock", .bit_offset = 256, .kind = Kind::unsigned_number, .size = 1, .array = true, .count = 24};  // bytes
  CHECK(records->at(1) == expected);
  CHECK(records->at(2).members[0].name == "pid");
}

TEST_CASE("what entries are about: structs of RDMA that programs read, none of the core kernel", "[bpf.layout]") {
  const auto names = rdma_records();
  for (const char* name : {"ib_qp", "ib_qp_attr", "ib_device", "rdma_restrack_entry", "rdma_counter", "rdma_hw_stats", "devx_obj"}) CHECK(names.contains(name));
  for (const char* name : {"task_struct", "cgroup", "css_set", "pt_regs", "ev_qp"}) CHECK_FALSE(names.contains(name));
}
