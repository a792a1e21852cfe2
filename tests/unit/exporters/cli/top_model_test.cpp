// SPDX-License-Identifier: Apache-2.0
#include "exporters/cli/top_model.h"

#include <catch2/catch.hpp>

#include "exporters/cli/text_width.h"

using namespace qpscope::cli;

namespace {

const Json kStatus = Json::parse(R"({"time": 1796051798.5, "data": {"host": "node17", "queue_pairs": {"total": 812, "by_state": {"ERR": 12}}, "troubles": [{}]}})");

Json qps(int count) {
  Json list = Json::array();
  for (int n = 0; n < count; ++n) list.push_back({{"device", "mlx5_0"}, {"qpn", 100 + n}, {"state", n == 7 ? "ERR" : "RTS"}, {"comm", "計算\x1b[2J"}});
  return {{"time", 1796051798.5}, {"data", {{"qps", list}}}};
}

Json port_list() {
  const auto port = [](const char* device, double rx, double retransmits) {
    return Json{{"device", device}, {"port", 1}, {"state", "ACTIVE"}, {"history", {{"rx_bytes", {rx}}, {"retransmits", {retransmits}}}}, {"totals", {{"completion_errors", device[4]}}}};
  };
  return {{"time", 1796051798.5}, {"data", {{"interval_seconds", 2}, {"ports", {port("mlx_a", 1, 5), port("mlx_b", 3, 7), port("mlx_c", 2, 6)}}}}};
}

Json tenant_list(double time, int total) {
  return {{"time", time}, {"data", {{"tenants", {{{"tenant", "research"}, {"workload", "job"}, {"queue_pairs", 2}, {"ports", {{{"totals", {{"rx_bytes", std::to_string(total)}}}}}}}}}}}};
}

constexpr Screen k80x10{.columns = 80, .rows = 10};

// First letters of the rows' devices.
std::string order_of(TopModel& model) {
  std::string out;
  for (const std::string& line : model.lines({.columns = 200, .rows = 20})) {
    if (line.starts_with("mlx_")) out += line[4];
  }
  return out;
}

}  // namespace

TEST_CASE("keys, and what is none", "[exporters.cli.top_model]") {
  CHECK(keys_of("q") == std::vector{Key::quit});
  CHECK(keys_of("\x1b[A\x1bOBj") == std::vector{Key::up, Key::down, Key::down});
  CHECK(keys_of("\x1b[5~ ") == std::vector{Key::page_up, Key::pause});
  CHECK(keys_of("\x1b[1;5q").empty());  // not the key q
  CHECK(keys_of("\x1b[").empty());
  CHECK(keys_of("\x1bzZ\xff").empty());
}

TEST_CASE("before the first answer and without one", "[exporters.cli.top_model]") {
  TopModel model(TopView::ports);
  CHECK(model.lines(k80x10).back() == "...");
  model.fail("no qpscoped\x1b serves");
  CHECK(model.lines(k80x10)[1] == "no qpscoped\\x1b serves");
  model.show(kStatus, port_list());
  CHECK(model.lines(k80x10)[1].starts_with("ports by RETRANS  1-3 of 3"));
  model.fail("gone");  // what was there stays
  CHECK(order_of(model) == "bca");
}

TEST_CASE("sorted as one wants it", "[exporters.cli.top_model]") {
  TopModel model(TopView::ports);
  model.show(kStatus, port_list());
  CHECK(order_of(model) == "bca");
  model.press(Key::reverse);
  CHECK(order_of(model) == "acb");
  model.press(Key::errors);
  CHECK(order_of(model) == "cba");
  model.press(Key::bandwidth);
  CHECK(order_of(model) == "bca");
  CHECK(model.lines(k80x10)[1].starts_with("ports by RX"));
  model.press(Key::bandwidth);
  CHECK(model.lines(k80x10)[1].starts_with("ports by TX"));
  CHECK(model.sort_by("Device"));
  CHECK(order_of(model) == "abc");
  CHECK_FALSE(model.sort_by("nonsense"));
  model.press(Key::previous_sort);  // round the corner, to a column that has no room: it is there all the same
  CHECK(model.lines(k80x10)[3].find("FUNCTION") != std::string::npos);
  model.press(Key::next_sort);
  CHECK(model.lines(k80x10)[1].starts_with("ports by DEVICE"));
}

TEST_CASE("nothing is wider or higher than the screen", "[exporters.cli.top_model]") {
  for (const int count : {0, 3, 10000}) {
    TopModel model(TopView::qps);
    model.show(kStatus, qps(count));
    for (const Screen screen : {Screen{.columns = 80, .rows = 24}, Screen{.columns = 200, .rows = 50}, Screen{.columns = 20, .rows = 5}, Screen{.columns = 1, .rows = 1}}) {
      for (const bool help : {false, true}) {
        const auto lines = model.lines(screen);
        CHECK(lines.size() <= screen.rows);
        for (const std::string& line : lines) CHECK((columns_of(line) <= screen.columns && line.find('\x1b') == std::string::npos));
        model.press(help ? Key::up : Key::help);
      }
    }
  }
}

TEST_CASE("the dead are first, and one can go to the end", "[exporters.cli.top_model]") {
  TopModel model(TopView::qps);
  model.show(kStatus, qps(100));
  auto lines = model.lines(k80x10);
  CHECK(lines[0].find("node17") != std::string::npos);
  CHECK(lines[0].find("12 in ERR") != std::string::npos);
  CHECK(lines[0].find("1 trouble:") != std::string::npos);
  CHECK(lines[4].find("107") != std::string::npos);
  model.press(Key::end);
  lines = model.lines(k80x10);
  CHECK(lines.size() == 10);
  CHECK(lines[1].find("95-100 of 100") != std::string::npos);
  CHECK(lines[9].find("199") != std::string::npos);
  model.press(Key::down);  // no further
  CHECK(model.lines(k80x10) == lines);
  model.press(Key::page_up);
  CHECK(model.lines(k80x10)[1].find("89-94 of 100") != std::string::npos);
  model.show(kStatus, qps(3));  // most are gone
  CHECK(model.lines(k80x10)[1].find("1-3 of 3") != std::string::npos);
  model.show(kStatus, qps(0));
  CHECK(model.lines(k80x10).back() == "No queue pairs.");
}

TEST_CASE("another view has nothing of the one before", "[exporters.cli.top_model]") {
  TopModel model(TopView::ports);
  model.show(kStatus, port_list());
  CHECK_FALSE(model.press(Key::ports));
  model.press(Key::pause);
  CHECK(model.paused());
  CHECK(model.lines(k80x10)[1].find("PAUSED") != std::string::npos);
  CHECK(model.press(Key::next_view));
  CHECK(model.view() == TopView::tenants);
  CHECK_FALSE(model.paused());
  CHECK(model.lines(k80x10).back() == "...");
  model.press(Key::help);
  CHECK_FALSE(model.press(Key::qps));  // a key that ends help does nothing else
  CHECK(model.view() == TopView::tenants);
}

TEST_CASE("a tenant's rates need two answers", "[exporters.cli.top_model]") {
  TopModel model(TopView::tenants);
  model.show(kStatus, tenant_list(100, 1000));
  CHECK_FALSE(model.has_rates());
  CHECK(model.lines(k80x10)[4].find("bit/s") == std::string::npos);
  model.show(kStatus, tenant_list(102, 1250));
  CHECK(model.has_rates());
  CHECK(model.lines(k80x10)[4].find("1 kbit/s") != std::string::npos);
}
