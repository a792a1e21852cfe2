// SPDX-License-Identifier: Apache-2.0
#include "collectors/representor.h"

#include <catch2/catch.hpp>

using namespace qpscope;

TEST_CASE("representors by the name of their physical port", "[collectors.representor]") {
  CHECK(parse_representor("pf0vf2") == Representor{"0", "2"});
  CHECK(parse_representor("pf1vf127") == Representor{"1", "127"});
  CHECK(parse_representor("c1pf0vf3") == Representor{"0", "3"});
  CHECK(parse_representor("pf0sf88") == Representor{"0", ""});
  CHECK(parse_representor("pf0") == Representor{"0", ""});
}

TEST_CASE("names of no representor", "[collectors.representor]") {
  for (const char* name : {"", "p0", "p1s2", "vf2", "pf", "pfvf2", "pf0vf", "pf0vf2x", "pf0vf2\n", " pf0vf2", "pf0 vf2", "pf0vf-1", "pf0vf999999", "pf0sf",
                           "pf0vf1sf2", "c1", "cpf0", "pf0vf\xff"}) {
    INFO(name);
    CHECK_FALSE(parse_representor(name));
  }
}
