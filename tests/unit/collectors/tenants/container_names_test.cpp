// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenants/container_names.h"

#include <catch2/catch.hpp>

using namespace qpscope;

TEST_CASE("docker's name stands at the top", "[tenants.container_names]") {
  CHECK(docker_name(R"({"Name":"/a"})") == "a");
  CHECK(docker_name(R"({"Config":{"Labels":{"Name":"/evil"}},"MountPoints":{"/x":{"Name":"vol"}},"Name":"/good"})") == "good");
  CHECK(docker_name(R"({"Env":["\"Name\":\"/evil\""],"Name":"/good"})") == "good");
  for (const std::string_view bad :
       {"", "{", "[]", "null", R"({"Name":1})", R"({"Name":""})", R"({"Name":"/"})", R"({"name":"/a"})", R"({"X":{"Name":"/a"}})"}) {
    CAPTURE(bad);
    CHECK_FALSE(docker_name(bad));
  }
  CHECK_FALSE(docker_name(std::string(100'000, '[')));
}

TEST_CASE("podman's names stand in one list", "[tenants.container_names]") {
  const std::string list =
      R"([{"id":"a","names":["one","two"],"metadata":"{\"id\":\"b\"}"},{"names":["x"]},7,{"id":"b","names":[]},{"id":"c"}])";
  CHECK(podman_name(list, "a") == "one");
  for (const std::string_view id : {"b", "c", "d", ""}) {
    CAPTURE(id);
    CHECK_FALSE(podman_name(list, id));
  }
  CHECK_FALSE(podman_name("{}", "a"));
  CHECK_FALSE(podman_name("[", "a"));
}
