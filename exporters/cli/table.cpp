// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <algorithm>
#include <cstdint>

#include "text_width.h"

namespace qpscope::cli {
namespace {

constexpr std::size_t kGap = 2, kGone = SIZE_MAX;

std::size_t total(const std::vector<std::size_t>& widths) {
  std::size_t sum = 0;
  for (const std::size_t width : widths) sum += width == kGone ? 0 : width + kGap;
  return sum > kGap ? sum - kGap : 0;
}

}  // namespace

Cell text_cell(const Json& object, const char* key, Tone tone) {
  auto text = text_of(object, key);
  return text ? Cell{.text = std::move(*text), .tone = tone} : Cell{};
}

Cell number_cell(const Json& object, const char* key) {
  Cell cell = text_cell(object, key);
  cell.value = number_of(object, key);
  if (cell.value) cell.value = -*cell.value;  // 1 before 2: names, not measures
  return cell;
}

Cell value_cell(std::optional<double> value, std::string (*unit)(double), Tone tone) {
  return value ? Cell{.text = unit(*value), .value = value, .tone = tone} : Cell{};
}

void Table::sort(std::size_t column, bool reverse) {
  std::ranges::stable_sort(rows_, [&](const auto& left, const auto& right) {
    const Cell &a = left[column], &b = right[column];
    const bool a_known = a.value || a.text != "-", b_known = b.value || b.text != "-";
    if (a_known != b_known) return a_known;
    if (a.value.has_value() != b.value.has_value()) return a.value.has_value();
    if (a.value) return reverse ? *a.value < *b.value : *a.value > *b.value;
    return reverse ? a.text > b.text : a.text < b.text;
  });
}

std::vector<std::size_t> Table::widths(const Screen& screen, const View& view) const {
  std::vector<std::size_t> natural;
  for (const Column& column : columns_) natural.push_back(columns_of(column.head));
  std::vector<bool> known(columns_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      natural[i] = std::max(natural[i], columns_of(row[i].text));
      if (row[i].text != "-") known[i] = true;
    }
  }
  if (screen.columns == 0) return natural;

  std::vector<std::size_t> widths(columns_.size());
  const auto rank = [&](std::size_t i) { return widths[i] == kGone || view.marked == i ? 0 : columns_[i].rank; };
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::size_t least = std::max(columns_[i].least, columns_of(columns_[i].head));
    widths[i] = columns_[i].least ? std::min(natural[i], least) : natural[i];
    if (!known[i] && !rows_.empty() && rank(i) > 0) widths[i] = kGone;
  }
  while (total(widths) > screen.columns) {
    std::size_t worst = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (rank(i) >= rank(worst)) worst = i;
    }
    if (rank(worst) == 0) break;
    widths[worst] = kGone;
  }
  const auto is_cut = [&](std::size_t i) { return widths[i] != kGone && widths[i] < natural[i]; };
  for (std::size_t at = 0, whole = 0, room = screen.columns - std::min(screen.columns, total(widths)); room > 0 && whole < widths.size(); at = (at + 1) % widths.size()) {
    if (!is_cut(at)) {  // what is left over is shared by those that were cut
      ++whole;
      continue;
    }
    ++widths[at];
    --room;
    whole = 0;
  }
  return widths;
}

std::vector<std::string> Table::lines(const Screen& screen, const View& view) const {
  const auto widths = this->widths(screen, view);
  std::vector<std::string> out;
  const auto line = [&](const auto& text_of, const auto& tone_of) {
    std::string text;
    std::size_t used = 0, pending = 0;  // columns; blanks that are written before the next cell only
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] == kGone || (screen.columns && used + pending >= screen.columns)) continue;
      const std::size_t room = screen.columns ? std::min(widths[i], screen.columns - used - pending) : widths[i];
      const std::string cell = fit(text_of(i), room);
      const std::size_t blanks = room - columns_of(cell);
      if (!cell.empty()) {
        const std::size_t before = pending + (columns_[i].right ? blanks : 0);
        text += std::string(before, ' ') + toned(cell, tone_of(i), screen);
        used += before + columns_of(cell);
        pending = columns_[i].right ? kGap : blanks + kGap;
      } else {
        pending += blanks + kGap;
      }
    }
    out.push_back(std::move(text));
  };
  if (view.head) {
    line([&](std::size_t i) { return std::string_view(columns_[i].head); }, [&](std::size_t i) { return view.marked == i ? Tone::marked : Tone::strong; });
  }
  const std::size_t end = view.first + std::min(view.count, rows_.size() - std::min(view.first, rows_.size()));
  for (std::size_t at = view.first; at < end; ++at) {
    const auto& row = rows_[at];
    line([&](std::size_t i) { return std::string_view(row[i].text); }, [&](std::size_t i) { return row[i].text == "-" ? Tone::dim : row[i].tone; });
  }
  return out;
}

std::string Table::text(const Screen& screen) const {
  std::string out;
  for (const std::string& line : lines(screen, {})) out += line + "\n";
  return out;
}

}  // namespace qpscope::cli
