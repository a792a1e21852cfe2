// SPDX-License-Identifier: Apache-2.0
#include "exporters/query.h"

#include <catch2/catch.hpp>

using namespace qpscope;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs pairs(std::string_view query) {
  const auto parsed = parse_query(query);
  REQUIRE(parsed);
  Pairs out;
  for (const Parameter& one : *parsed) out.emplace_back(one.name, one.value);
  return out;
}

}  // namespace

TEST_CASE("names and values", "[exporters.query]") {
  CHECK(pairs("").empty());
  CHECK(pairs("&&").empty());
  CHECK(pairs("a=1&b=2&a=3") == Pairs{{"a", "1"}, {"b", "2"}, {"a", "3"}});
  CHECK(pairs("a&b=&=c&d=e=f") == Pairs{{"a", ""}, {"b", ""}, {"", "c"}, {"d", "e=f"}});
  CHECK(pairs("a%3d=%26%3D+%2B%7e") == Pairs{{"a=", "&= +~"}});
  CHECK(pairs("a=%00%ff") == Pairs{{"a", std::string("\0\xff", 2)}});
}

TEST_CASE("a percent without two digits is refused by its parameter's name", "[exporters.query]") {
  for (const char* bad : {"good=1&tenant=%", "tenant=%4", "tenant=%4g", "tenant=%g4", "tenant=%-1", "tenant=%%41", "tenant=% 1", "tenant=%0x"}) {
    INFO(bad);
    const auto parsed = parse_query(bad);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == ErrorCode::invalid);
    CHECK_THAT(parsed.error().what, Catch::StartsWith("tenant: "));
  }
}
