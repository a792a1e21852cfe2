// SPDX-License-Identifier: Apache-2.0
#include "state_file.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "unit/collectors/host/temp_tree.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

const std::string kBootId = "proc/sys/kernel/random/boot_id", kState = "run/qpscope/state";

std::vector<DeviceLedger> ledgers(std::uint64_t value) {
  LedgerImage image;
  image.counters.push_back({std::make_shared<CounterKey>("1", "counters", "symbol_error"), {.total = value, .last = value}, {7}});
  return {{.name = "mlx5_0", .guid = "0c42:a103:0000:0001", .image = std::make_shared<const LedgerImage>(image)}};
}

struct Place {
  TempTree tree;
  Sysroot root = Sysroot::open(tree.path()).value();
  Place() {
    tree.folder("run");
    tree.file(kBootId, "7c3a9d5e\n");
  }
  StateFile file() const { return StateFile(root); }
  std::string text() const { return (std::ostringstream() << std::ifstream(tree.at(kState)).rdbuf()).str(); }
};

}  // namespace

TEST_CASE("what is saved is loaded by the next daemon of this boot", "[daemon.state_file]") {
  Place place;
  StateFile file = place.file();
  CHECK(file.load().devices.empty());
  REQUIRE(file.save(ledgers(5), nullptr));
  REQUIRE(file.save(ledgers(6), nullptr));
  const auto back = place.file().load().devices;
  REQUIRE(back.size() == 1);
  CHECK(back[0].name == "mlx5_0");
  CHECK(back[0].guid == "0c42:a103:0000:0001");
  CHECK(back[0].image->counters.at(0).state.total == 6);
  place.tree.file(kBootId, "another\n");
  CHECK(place.file().load().devices.empty());
  CHECK(place.file().save(ledgers(1), nullptr));
  CHECK(place.file().load().devices[0].image->counters.at(0).state.total == 1);
}

TEST_CASE("only its owner reads it, and nothing is left beside it", "[daemon.state_file]") {
  Place place;
  place.tree.file("run/qpscope/state.new", "left behind");
  REQUIRE(place.file().save(ledgers(5), nullptr));
  struct stat info {};
  REQUIRE(stat(place.tree.at(kState).c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0600);
  CHECK_FALSE(std::filesystem::exists(place.tree.at("run/qpscope/state.new")));
}

TEST_CASE("nothing is written while nothing changes", "[daemon.state_file]") {
  Place place;
  StateFile file = place.file();
  CHECK(file.save({}, nullptr));
  CHECK_FALSE(std::filesystem::exists(place.tree.at("run/qpscope")));
  const auto same = ledgers(5);
  REQUIRE(file.save(same, nullptr));
  std::filesystem::remove(place.tree.at(kState));
  CHECK(file.save(same, nullptr));
  CHECK_FALSE(std::filesystem::exists(place.tree.at(kState)));
  CHECK(file.save(ledgers(5), nullptr));  // other images
  CHECK(std::filesystem::exists(place.tree.at(kState)));
  const auto own = std::make_shared<const std::vector<CarriedTotal>>(std::vector<CarriedTotal>{{"x_total", {"a"}, 3.0}});
  REQUIRE(file.save(same, own));
  REQUIRE(place.file().load().own);
  CHECK(*place.file().load().own == *own);
  std::filesystem::remove(place.tree.at(kState));
  CHECK(file.save(same, own));
  CHECK_FALSE(std::filesystem::exists(place.tree.at(kState)));
}

TEST_CASE("a file that is not ours to read is ignored", "[daemon.state_file]") {
  Place place;
  REQUIRE(place.file().save(ledgers(5), nullptr));
  const std::string good = place.text();
  for (const std::string& bad : {std::string(), std::string("nonsense"), good.substr(0, good.size() / 2), std::string(good.size(), '\0'),
                                 std::string(kMostStateBytes + 1, 'x')}) {
    place.tree.file(kState, bad);
    CHECK(place.file().load().devices.empty());
  }
  std::filesystem::remove(place.tree.at(kState));
  place.tree.folder(kState);
  CHECK(place.file().load().devices.empty());
  std::filesystem::remove(place.tree.at(kState));
  REQUIRE(mkfifo(place.tree.at(kState).c_str(), 0600) == 0);
  CHECK(place.file().load().devices.empty());
  std::filesystem::remove(place.tree.at(kState));
  place.tree.file("elsewhere", good);
  place.tree.link(kState, "/elsewhere");
  CHECK(place.file().load().devices.empty());
  CHECK(place.file().save(ledgers(5), nullptr));  // and replaced, link and all
  CHECK(place.file().load().devices.size() == 1);
}

TEST_CASE("without a boot id nothing is kept", "[daemon.state_file]") {
  Place place;
  REQUIRE(place.file().save(ledgers(5), nullptr));
  std::filesystem::remove(place.tree.at(kBootId));
  CHECK(place.file().load().devices.empty());
  CHECK_FALSE(place.file().save(ledgers(6), nullptr));
}

TEST_CASE("a folder that cannot be written is tried again", "[daemon.state_file]") {
  Place place;
  place.tree.file("run/qpscope", "a file");
  StateFile file = place.file();
  const auto same = ledgers(5);
  CHECK_FALSE(file.save(same, nullptr));
  CHECK_FALSE(file.save(same, nullptr));
  std::filesystem::remove(place.tree.at("run/qpscope"));
  CHECK(file.save(same, nullptr));
  CHECK(place.file().load().devices.size() == 1);
}
