// SPDX-License-Identifier: Apache-2.0
#include "exporters/host_names.h"

#include <catch2/catch.hpp>

using namespace qpscope;

TEST_CASE("which Host headers mean this machine", "[exporters.host_names]") {
  const std::vector<std::string> listed{"Monitor.Example.org", "*.cluster.example", "alias."};
  const auto names = HostNames::make(listed, "node7.rack2.example.org");
  REQUIRE(names);
  for (const char* good : {
           "localhost", "LOCALHOST:9879", "localhost.", "localhost:",
           "127.0.0.1", "127.0.0.1:9879", "192.0.2.7:1", "0.0.0.0",
           "[::1]", "[::1]:9879", "[fe80::1]", "[::ffff:192.0.2.7]:80", "[::1]:",
           "node7", "node7:9879", "node7.rack2.example.org", "Node7.Rack2.Example.ORG.:9879",
           "monitor.example.org", "MONITOR.example.org:443", "alias", "alias.",
           "a.cluster.example", "a.b.CLUSTER.example:9879",
       }) {
    INFO(good);
    CHECK(names->contains(good));
  }
  for (const char* bad : {
           "", ":", ":9879", ".", "evil.example", "evil.example:9879", "node7.evil.example", "node7.rack2", "rack2.example.org", "localhost.evil.example", "evil.localhost",
           "127.0.0.1.evil.example", "127.0.0.1.", "127.1", "0x7f.0.0.1", "2130706433", "256.0.0.1", "127.0.0.1:http", "127.0.0.1:123456", "127.0.0.1:80:80",
           "::1", "[::1", "[::1]9879", "[::1]:x", "[::1]x:1", "[]", "[127.0.0.1]", "[localhost]", "[fe80::1%eth0]",
           "cluster.example", ".cluster.example", "xcluster.example", "a.cluster.example.evil", "*.cluster.example",
           " localhost", "localhost ", "localhost/", "user@localhost", "localhost,evil.example", "node7..", "http://localhost",
       }) {
    INFO(bad);
    CHECK_FALSE(names->contains(bad));
  }
  CHECK_FALSE(names->contains(std::string_view("localhost\0.evil.example", 23)));
  CHECK_FALSE(names->contains(std::string_view("127.0.0.1\0x", 11)));
  CHECK_FALSE(names->contains(std::string(300, 'a') + ".cluster.example"));
}

TEST_CASE("a machine without a name, and nothing listed", "[exporters.host_names]") {
  const auto names = HostNames::make({}, "");
  REQUIRE(names);
  CHECK(names->contains("localhost"));
  CHECK_FALSE(names->contains(""));
  const auto odd = HostNames::make({}, "(none)");
  REQUIRE(odd);
  CHECK_FALSE(odd->contains("(none)"));
}

TEST_CASE("what is no host name is told as such", "[exporters.host_names]") {
  for (const char* bad : {"", "*", "*.", "*.*.example", ".example.org", "node7:9879", "http://node7", "a b", "[::1]", "node\n7"}) {
    INFO(bad);
    const auto names = HostNames::make(std::vector<std::string>{bad}, "node7");
    REQUIRE_FALSE(names);
    CHECK(names.error().code == ErrorCode::invalid);
    CHECK_THAT(names.error().what, Catch::Contains("api.hosts"));
  }
}
