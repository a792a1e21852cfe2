// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenants/user_names.h"

#include <catch2/catch.hpp>

#include "unit/collectors/tenants/site.h"

using namespace qpscope;
using namespace qpscope::test;

TEST_CASE("a user's name by the files of root", "[tenants.user_names]") {
  TenantSite site;
  site.tree.file("run/systemd/users/2000", "# private\nNAME=carol\nSTATE=active\n");
  site.tree.file("etc/subuid", "#x\nalice:100000:65536\n1001:200000:10\nbroken\nghost:300000:1\n");
  UserNames names(site.root, site.clock.fn());
  CHECK(names.name(0) == "root");
  CHECK(names.name(1000) == "alice");
  CHECK(names.name(2000) == "carol");
  CHECK(names.name(100000) == "alice");
  CHECK(names.name(165535) == "alice");
  CHECK(names.name(165536) == "165536");
  CHECK(names.name(200009) == "bob");
  CHECK(names.name(300000) == "ghost");
  CHECK(names.name(4294967295U) == "4294967295");
}

TEST_CASE("a name that changes", "[tenants.user_names]") {
  TenantSite site;
  UserNames names(site.root, site.clock.fn());
  CHECK(names.name(1000) == "alice");
  CHECK(names.name(5) == "5");
  site.tree.file("etc/passwd", "garbage\n:x:1000:\nann:x:1000:1:\neve:x:5:1:\nx:y:");
  CHECK(names.name(1000) == "alice");
  CHECK(names.name(5) == "5");
  site.clock.pass(6);  // that there is none is forgotten soon
  CHECK(names.name(5) == "eve");
  site.clock.pass(55);
  CHECK(names.name(1000) == "ann");
}

TEST_CASE("no files, no names", "[tenants.user_names]") {
  TempTree tree;
  const Sysroot root = Sysroot::open(tree.path()).value();
  FakeClock clock;
  CHECK(UserNames(root, clock.fn()).name(0) == "0");
}
