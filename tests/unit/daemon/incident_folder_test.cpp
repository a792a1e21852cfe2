// SPDX-License-Identifier: Apache-2.0
#include "incident_folder.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "unit/collectors/host/temp_tree.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

const std::string kFolder = "var/lib/qpscope/incidents";

std::string id(int number) { return "20261201T0315" + std::to_string(10 + number) + "Z-link_down"; }

struct Place {
  TempTree tree;
  Sysroot root = Sysroot::open(tree.path()).value();
  Place() { tree.folder("var/lib"); }
  IncidentFolder folder(std::size_t files = 3, std::uint64_t bytes = 1000) const { return {root, files, bytes}; }
  std::set<std::string> names() const {
    std::set<std::string> out;
    for (const auto& one : std::filesystem::directory_iterator(tree.at(kFolder))) out.insert(one.path().filename());
    return out;
  }
  std::string text(const std::string& name) const { return (std::ostringstream() << std::ifstream(tree.at(kFolder + "/" + name)).rdbuf()).str(); }
};

using Names = std::set<std::string>;

}  // namespace

TEST_CASE("an incident is a file that root alone may read", "[daemon.incident_folder]") {
  Place place;
  REQUIRE(place.folder().keep(id(1), "{}\n"));
  CHECK(place.names() == Names{id(1) + ".json"});
  CHECK(place.text(id(1) + ".json") == "{}\n");
  struct stat info {};
  REQUIRE(::stat(place.tree.at(kFolder + "/" + id(1) + ".json").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0640);
  REQUIRE(::stat(place.tree.at(kFolder).c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0750);
}

TEST_CASE("the oldest make room, by number and by size", "[daemon.incident_folder]") {
  Place place;
  for (int i = 0; i < 5; ++i) REQUIRE(place.folder().keep(id(i), "x"));
  CHECK(place.names() == Names{id(2) + ".json", id(3) + ".json", id(4) + ".json"});
  REQUIRE(place.folder(10, 10).keep(id(5), std::string(8, 'y')));
  CHECK(place.names() == Names{id(3) + ".json", id(4) + ".json", id(5) + ".json"});
  REQUIRE(place.folder(10, 10).keep(id(6), std::string(10, 'y')));
  CHECK(place.names() == Names{id(6) + ".json"});
  const auto too_large = place.folder(10, 10).keep(id(7), std::string(11, 'y'));
  REQUIRE_FALSE(too_large);
  CHECK(too_large.error().code == ErrorCode::limit);
  CHECK(place.names() == Names{id(6) + ".json"});
}

TEST_CASE("what people put there is theirs", "[daemon.incident_folder]") {
  Place place;
  place.tree.file(kFolder + "/notes.json", std::string(5000, 'n'));
  place.tree.file(kFolder + "/20261201T031500Z-link_down.json.bak", "n");
  place.tree.folder(kFolder + "/20261201T031501Z-link_down.json");
  for (int i = 0; i < 4; ++i) REQUIRE(place.folder(1, 10).keep(id(i), "x"));
  CHECK(place.names() == Names{"notes.json", "20261201T031500Z-link_down.json.bak", "20261201T031501Z-link_down.json", id(3) + ".json"});
}

TEST_CASE("links are not followed, and what a write left behind is no hindrance", "[daemon.incident_folder]") {
  Place place;
  place.tree.file(kFolder + "/.new", "half");
  std::filesystem::create_symlink("/etc/passwd", place.tree.at(kFolder + "/" + id(1) + ".json"));
  REQUIRE(place.folder().keep(id(1), "x"));
  CHECK(place.text(id(1) + ".json") == "x");
  CHECK(place.names() == Names{id(1) + ".json"});
  std::filesystem::remove_all(place.tree.at("var/lib/qpscope"));
  place.tree.folder("elsewhere");
  std::filesystem::create_symlink(place.tree.at("elsewhere"), place.tree.at("var/lib/qpscope"));
  CHECK_FALSE(place.folder().keep(id(2), "x"));
}

TEST_CASE("without /var/lib nothing is kept, and it is said", "[daemon.incident_folder]") {
  const TempTree tree;
  const Sysroot root = Sysroot::open(tree.path()).value();
  const auto kept = IncidentFolder(root, 3, 100).keep(id(1), "x");
  REQUIRE_FALSE(kept);
  CHECK(kept.error().code == ErrorCode::not_found);
}

TEST_CASE("ids", "[daemon.incident_folder]") {
  CHECK(is_incident_id("20261201T031502Z-link_down"));
  CHECK(is_incident_id("20261201T031502Z-link_down-2"));
  for (const char* other : {"", "20261201T031502Z-", "20261201T031502Z", "2026120xT031502Z-a", "20261201T031502Z-../a", "20261201T031502Z-A"}) CHECK_FALSE(is_incident_id(other));
}
