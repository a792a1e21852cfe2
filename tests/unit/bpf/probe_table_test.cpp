// SPDX-License-Identifier: Apache-2.0
// The table and the object agree. Opening an object needs no privilege and no kernel.
#include "bpf/probe_table.h"

#include <bpf/libbpf.h>

#include <catch2/catch.hpp>
#include <set>
#include <sstream>
#include <string>

#include "bpf/probe_choice.h"

namespace qpscope {
namespace {

std::set<std::string> programs_of_table() {
  std::set<std::string> out;
  for (const auto& row : probe_table()) {
    for (const auto alternative : row.alternatives) {
      std::istringstream words{std::string(alternative)};
      for (std::string name; words >> name;) out.insert(name);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("the table names every program of the object and no other", "[bpf.probe_table]") {
  const ObjectPtr object = open_object();
  REQUIRE(object);
  std::set<std::string> programs;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object.get()) programs.insert(bpf_program__name(program));
  CHECK(programs == programs_of_table());
}

TEST_CASE("names of programs and maps are as long as the kernel keeps", "[bpf.probe_table]") {
  const ObjectPtr object = open_object();
  REQUIRE(object);
  for (const auto& name : programs_of_table()) CHECK(name.size() <= 15);
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, object.get()) {
    if (!bpf_map__is_internal(map)) CHECK(std::string(bpf_map__name(map)).size() <= 15);
  }
}

TEST_CASE("a probe that loses all its alternatives is off and says why", "[bpf.probe_table]") {
  for (auto& choice : all_choices()) {
    REQUIRE_FALSE(choice.off());
    CHECK(choice.status().attached);
    CHECK(choice.status().reason.empty());
    while (!choice.off()) choice.next("is broken");
    const ProbeStatus status = choice.status();
    CHECK(status.how == "off");
    CHECK_FALSE(status.attached);
    CHECK_FALSE(status.waiting);
    CHECK(status.reason.find("is broken") != std::string::npos);
    CHECK_FALSE(status.target.empty());
  }
}

}  // namespace qpscope
