// SPDX-License-Identifier: Apache-2.0
// Columns for people, as wide as the screen is. The only table code of the command. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fields.h"
#include "screen.h"

namespace qpscope::cli {

struct Cell {
  std::string text = "-";         // displayable; "-": not known, which is not zero
  std::optional<double> value{};  // what a sort goes by; without one by the text
  Tone tone = Tone::plain;
};

// Cells of an answer's fields.
Cell text_cell(const Json& object, const char* key, Tone tone = Tone::plain);
Cell number_cell(const Json& object, const char* key);                                    // a name that is a number: as it is written
Cell value_cell(std::optional<double> value, std::string (*unit)(double), Tone tone = Tone::plain);  // a measure

struct Column {
  const char* head;
  unsigned rank = 0;      // where there is no room the highest rank goes first; 0 stays
  bool right = false;     // aligned to the right: measures
  std::size_t least = 0;  // may be cut down to so many columns before any column goes; 0: never cut
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as there are columns.
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  std::size_t size() const { return rows_.size(); }
  const std::vector<Column>& columns() const { return columns_; }

  // Largest numbers first, then texts from A to Z; the other way round where `reverse`. Rows that do not have it are last. Stable.
  void sort(std::size_t column, bool reverse);

  struct View {
    std::size_t first = 0, count = SIZE_MAX;  // of the rows
    std::optional<std::size_t> marked{};      // the column that is sorted by: stays, and is marked
    bool head = true;
  };
  // A line each, without its end. Two blanks between columns, none at the end of a line. On a screen with a limit, columns in which nothing is known go first.
  std::vector<std::string> lines(const Screen& screen, const View& view) const;
  std::string text(const Screen& screen) const;  // all of them

 private:
  std::vector<std::size_t> widths(const Screen& screen, const View& view) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace qpscope::cli
