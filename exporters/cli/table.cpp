// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <algorithm>

namespace qpscope::cli {
namespace {

// In characters: bytes but those that go on with one.
std::size_t width(const std::string& utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) out += row[i] + std::string(widths[i] - width(row[i]) + 2, ' ');
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

}  // namespace qpscope::cli
