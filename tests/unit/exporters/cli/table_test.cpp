// SPDX-License-Identifier: Apache-2.0
#include "exporters/cli/table.h"

#include <catch2/catch.hpp>
#include <limits>

#include "exporters/cli/text_width.h"
#include "exporters/cli/units.h"

using namespace qpscope::cli;

namespace {

Table some() {
  Table table({{"DEVICE"}, {"TENANT", 1, false, 8}, {"RX", 2, true}, {"COMM", 3}});
  table.add({{"mlx5_0"}, {"läb"}, {"1", 1}, {"x"}});
  table.add({{"mlx5_10"}, {"a-name-that-is-long"}, {"100", 100}, {}});
  return table;
}

}  // namespace

TEST_CASE("without a limit all of it is there", "[exporters.cli.table]") {
  CHECK(some().text({}) ==
        "DEVICE   TENANT                RX  COMM\n"
        "mlx5_0   läb                    1  x\n"
        "mlx5_10  a-name-that-is-long  100  -\n");
}

TEST_CASE("names are cut before columns go, and columns go by rank", "[exporters.cli.table]") {
  CHECK(some().lines({.columns = 39}, {})[2] == "mlx5_10  a-name-that-is-long  100  -");
  CHECK(some().lines({.columns = 30}, {})[2] == "mlx5_10  a-name-th…  100  -");
  CHECK(some().lines({.columns = 25}, {})[0] == "DEVICE   TENANT        RX");
  CHECK(some().lines({.columns = 25}, {})[2] == "mlx5_10  a-name-tha…  100");
  CHECK(some().lines({.columns = 17}, {})[2] == "mlx5_10  a-name-…");
  CHECK(some().lines({.columns = 10}, {})[2] == "mlx5_10");
  CHECK(some().lines({.columns = 4}, {})[2] == "mlx…");
}

TEST_CASE("no line is wider than the screen, whatever is in it", "[exporters.cli.table]") {
  Table table({{"DEVICE"}, {"A", 1, false, 4}, {"B", 2, true, 3}, {"C"}});
  table.add({{"計算機"}, {"計算機計算機計算機"}, {"𝔸𝔹ℂ"}, {std::string(300, 'x')}});
  for (std::size_t columns = 1; columns < 330; ++columns) {
    for (const std::string& line : table.lines({.columns = columns}, {})) CHECK(columns_of(line) <= columns);
  }
}

TEST_CASE("a column that nobody fills leaves the screen first, but for the one that is sorted by", "[exporters.cli.table]") {
  Table table({{"A"}, {"B", 1}, {"C", 1}});
  table.add({{"x"}, {}, {"y"}});
  CHECK(table.lines({.columns = 80}, {})[0] == "A  C");
  CHECK(table.lines({.columns = 80}, {.marked = 1})[0] == "A  B  C");
  CHECK(table.lines({.columns = 4}, {.marked = 1})[0] == "A  B");
  CHECK(table.lines({}, {})[0] == "A  B  C");
}

TEST_CASE("sorted by measure, by name, and what is not known last", "[exporters.cli.table]") {
  Table table({{"NAME"}, {"RX", 0, true}});
  for (const double value : {3.0, 1.0, 2.0}) table.add({{amount(value)}, value_cell(value, amount)});
  table.add({{"b"}, {}});
  const auto names = [&] {
    std::string out;
    for (const std::string& line : table.lines({}, {.head = false})) out += line.substr(0, 1);
    return out;
  };
  table.sort(1, false);
  CHECK(names() == "321b");
  table.sort(1, true);
  CHECK(names() == "123b");
  table.sort(0, true);
  CHECK(names() == "b321");
  CHECK(Table({{"A"}}).text({}) == "A\n");
}

TEST_CASE("only the rows that are asked for", "[exporters.cli.table]") {
  CHECK(some().lines({}, {.first = 1, .count = 5}).size() == 2);
  CHECK(some().lines({}, {.first = 7, .count = 5}).size() == 1);
  CHECK(some().lines({}, {.count = 1, .head = false}).size() == 1);
}

TEST_CASE("colours take no room", "[exporters.cli.table]") {
  Table table({{"A"}, {"B"}});
  table.add({{.text = "ERR", .tone = Tone::bad}, {"x"}});
  CHECK(table.lines({.columns = 6, .colour = true}, {})[1] == "\x1b[1;31mERR\x1b[0m  x");
  CHECK(table.lines({.columns = 6}, {})[1] == "ERR  x");
}
