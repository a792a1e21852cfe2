// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/cgroup.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "temp_tree.h"

using namespace qpscope;
using qpscope::test::TempTree;

namespace {

struct Fixture {
  TempTree tree;
  CgroupWalk open() const {
    const auto root = Sysroot::open(tree.path());
    REQUIRE(root);
    auto walk = CgroupWalk::open(*root);
    REQUIRE(walk);
    return std::move(*walk);
  }
};

std::set<std::string> paths(const CgroupListing& listing) {
  std::set<std::string> out;
  for (const CgroupEntry& entry : listing.entries) out.insert(entry.path);
  return out;
}

}  // namespace

TEST_CASE("v2 is walked with inode numbers as ids, links and files left out", "[host.cgroup]") {
  const Fixture f;
  f.tree.file("sys/fs/cgroup/cgroup.controllers", "pids\n");
  f.tree.folder("sys/fs/cgroup/a/b.scope");
  f.tree.file("sys/fs/cgroup/a/cgroup.procs", "");
  f.tree.link("sys/fs/cgroup/link", "a");
  f.tree.folder("sys/fs/cgroup/pids/deep");
  const CgroupWalk walk = f.open();
  CHECK(walk.v2());
  CHECK(walk.mount() == "/sys/fs/cgroup");
  const CgroupListing listing = walk.walk();
  CHECK(listing.complete);
  CHECK(paths(listing) == std::set<std::string>{"/", "/a", "/a/b.scope", "/pids", "/pids/deep"});
  struct stat info {};
  REQUIRE(::stat(f.tree.at("sys/fs/cgroup/a/b.scope").c_str(), &info) == 0);
  const auto entry = std::ranges::find(listing.entries, "/a/b.scope", &CgroupEntry::path);
  CHECK(entry->id.value == info.st_ino);
  CHECK(std::ranges::find(listing.entries, "/a", &CgroupEntry::path) < entry);
  CHECK(paths(walk.walk()) == paths(listing));
  CHECK_FALSE(walk.path_of(entry->id));  // not the live host
}

TEST_CASE("v1 is walked by its pids hierarchy, else memory, else unified", "[host.cgroup]") {
  const Fixture f;
  f.tree.folder("sys/fs/cgroup/memory/m");
  f.tree.file("sys/fs/cgroup/unified/cgroup.controllers", "");
  CHECK(f.open().mount() == "/sys/fs/cgroup/memory");
  f.tree.folder("sys/fs/cgroup/pids/p");
  CHECK(f.open().mount() == "/sys/fs/cgroup/pids");
  CHECK_FALSE(f.open().v2());
  CHECK(paths(f.open().walk()) == std::set<std::string>{"/", "/p"});
  std::filesystem::remove_all(f.tree.at("sys/fs/cgroup/pids"));
  std::filesystem::remove_all(f.tree.at("sys/fs/cgroup/memory"));
  CHECK(f.open().mount() == "/sys/fs/cgroup/unified");
  CHECK(f.open().v2());
}

TEST_CASE("no cgroups at all is not found", "[host.cgroup]") {
  const TempTree tree;
  const auto root = Sysroot::open(tree.path());
  REQUIRE(root);
  CHECK(CgroupWalk::open(*root).error().code == ErrorCode::not_found);
  tree.folder("sys/fs/cgroup/cpu");
  CHECK(CgroupWalk::open(*root).error().code == ErrorCode::not_found);
}

TEST_CASE("the walk is bounded in number and depth and says so", "[host.cgroup]") {
  const Fixture f;
  f.tree.file("sys/fs/cgroup/cgroup.controllers", "");
  for (int i = 0; i < 20; ++i) f.tree.folder("sys/fs/cgroup/g" + std::to_string(i) + "/x/y");
  const CgroupWalk walk = f.open();
  const CgroupListing few = walk.walk({.entries = 10});
  CHECK(few.entries.size() == 10);
  CHECK_FALSE(few.complete);
  CHECK(few.trouble.find("10") != std::string::npos);
  CHECK(walk.walk({.entries = 61}).complete);
  const CgroupListing flat = walk.walk({.depth = 1});
  CHECK(flat.entries.size() == 21);
  CHECK_FALSE(flat.complete);
}

TEST_CASE("a folder that may not be read is told, the others are walked", "[host.cgroup]") {
  if (::geteuid() == 0) return;  // root may read everything
  const Fixture f;
  f.tree.file("sys/fs/cgroup/cgroup.controllers", "");
  f.tree.folder("sys/fs/cgroup/a");
  f.tree.folder("sys/fs/cgroup/b");
  REQUIRE(::chmod(f.tree.at("sys/fs/cgroup/a").c_str(), 0) == 0);
  const CgroupListing listing = f.open().walk();
  ::chmod(f.tree.at("sys/fs/cgroup/a").c_str(), 0700);  // so that it can be removed
  CHECK_FALSE(listing.complete);
  CHECK(paths(listing).contains("/b"));
}

TEST_CASE("live: walk and direct lookup agree; a removed cgroup is unknown", "[host.cgroup]") {
  const auto root = Sysroot::open("/");
  REQUIRE(root);
  const auto walk = CgroupWalk::open(*root);
  if (!walk) {
    WARN("skipped: " << walk.error().what);
    return;
  }
  const std::string name = "qpscope-unit (deleted)";  // also a name that looks like a removed one
  const std::string folder = walk->mount() + "/" + name;
  if (::geteuid() != 0 || ::mkdir(folder.c_str(), 0755) != 0) {
    WARN("skipped: needs root and a writable " << walk->mount());
    return;
  }
  const CgroupListing listing = walk->walk();
  const auto entry = std::ranges::find(listing.entries, "/" + name, &CgroupEntry::path);
  const bool listed = entry != listing.entries.end();
  const auto path = listed ? walk->path_of(entry->id) : std::nullopt;
  const auto top = listing.entries.empty() ? std::nullopt : walk->path_of(listing.entries.front().id);
  ::rmdir(folder.c_str());
  REQUIRE(listed);
  CHECK(path == "/" + name);
  CHECK(top == "/");
  CHECK_FALSE(walk->path_of(entry->id));
  CHECK_FALSE(walk->path_of(CgroupId{0}));
  CHECK_FALSE(walk->path_of(CgroupId{0xfffffffffff}));
}
