// SPDX-License-Identifier: Apache-2.0
// Columns for people.
#pragma once

#include <string>
#include <vector>

namespace qpscope::cli {

using Row = std::vector<std::string>;

// Every row has as many cells as the first, which is the head. Two blanks between columns, none at the end of a line. Cells are UTF-8.
std::string table(const std::vector<Row>& rows);

}  // namespace qpscope::cli
