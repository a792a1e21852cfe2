// SPDX-License-Identifier: Apache-2.0
#include "memory_survey.h"

#include <catch2/catch.hpp>

#include <deque>

#include "support/fake_clock.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

using Regions = std::vector<MemoryRegion>;

struct Survey {
  MemoryTable table;
  std::mutex mutex;
  FakeClock clock;
  std::deque<Result<Regions>> answers;  // the last one goes on
  int asked = 0, news = 0;
  MemorySurvey survey{table, mutex, 15,
                      {.now = clock.fn(),
                       .regions =
                           [this](DeviceIndex) {
                             ++asked;
                             Result<Regions> answer = answers.front();
                             if (answers.size() > 1) answers.pop_front();
                             return answer;
                           },
                       .news = [this] { ++news; }}};
  std::map<DeviceIndex, std::string> devices{{kDev, "mlx5_0"}};

  std::size_t regions() const {
    std::size_t sum = 0;
    for (const auto& [key, count] : table.counts()) sum += count.regions;
    return sum;
  }
};

MemoryRegion region(std::uint32_t number) { return {.number = number, .tid = {100}, .kern_name = {}, .bytes = 1, .on_demand = false}; }

}  // namespace

TEST_CASE("regions are listed once in an interval, those of a new device at once", "[daemon.memory_survey]") {
  Survey s;
  s.answers = {Regions{region(1)}};
  s.survey.look(s.devices);
  CHECK(s.regions() == 1);
  CHECK(s.news == 1);
  s.survey.look(s.devices);
  CHECK(s.asked == 1);
  s.devices[kOtherDev] = "mlx5_1";
  s.survey.look(s.devices);
  CHECK(s.asked == 3);
  CHECK(s.regions() == 2);
  s.clock.pass(15);
  s.survey.look(s.devices);
  CHECK(s.asked == 5);
  s.devices.erase(kOtherDev);
  s.survey.look(s.devices);
  CHECK(s.regions() == 1);
}

TEST_CASE("a region that one list passes over is still there", "[daemon.memory_survey]") {
  Survey s;
  s.answers = {Regions{region(1), region(2)}, Regions{region(2)}, Regions{region(1)}, Regions{}};
  s.survey.look(s.devices);
  s.clock.pass(15);
  s.survey.look(s.devices);
  CHECK(s.asked == 3);
  CHECK(s.regions() == 2);
  s.clock.pass(15);
  s.survey.look(s.devices);
  CHECK(s.regions() == 0);
}

TEST_CASE("a device that cannot be listed has no regions that are known", "[daemon.memory_survey]") {
  Survey s;
  s.answers = {Regions{region(1)}, fail(ErrorCode::io, "no"), Regions{region(1)}};
  s.survey.look(s.devices);
  s.clock.pass(15);
  s.survey.look(s.devices);
  CHECK(s.table.counts().empty());
  s.clock.pass(15);
  s.survey.look(s.devices);
  CHECK(s.regions() == 1);
}
