// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenants/pattern.h"

#include <catch2/catch.hpp>

using namespace qpscope;
using Catch::Contains;

TEST_CASE("what is no expression is said in RE2's words", "[tenants.pattern]") {
  CHECK_THAT(Pattern::compile("a(b").error().what, Contains("missing )"));
  CHECK_THAT(Pattern::compile("(?=x)").error().what, Contains("invalid perl operator"));
  CHECK_THAT(Pattern::compile("[\x01z-a]").error().what, Contains("range") && !Contains("\x01"));
  CHECK_THAT(Pattern::compile("(((a{100}){100}){100})").error().what, Contains("repetition"));
  CHECK_FALSE(Pattern::compile(std::string(2000, 'a')));
}

TEST_CASE("search finds anywhere, first_group wants the whole", "[tenants.pattern]") {
  const Pattern pattern = Pattern::compile("b(c?)(d)?").value();
  CHECK(pattern.search("abc") == std::vector<std::string>{"bc", "c", ""});
  CHECK_FALSE(pattern.search("ac"));
  CHECK(pattern.first_group("bcd") == "c");
  CHECK_FALSE(pattern.first_group("abcd"));
  CHECK_FALSE(Pattern::compile("b").value().first_group("b"));
  CHECK(Pattern::compile("^.$").value().search("\xff"));  // bytes
}
