// SPDX-License-Identifier: Apache-2.0
// How many columns text takes on a terminal. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace qpscope::cli {

// As safe_message() makes it, and what no column can be told for (marks that join the character before, characters that libc does not know) is a "?".
// So each character that is left takes one column or two.
std::string displayable(std::string_view untrusted);

// Of text that is displayable.
std::size_t columns_of(std::string_view text);

// Displayable text in at most so many columns: what is longer ends in "…".
std::string fit(std::string_view text, std::size_t columns);

}  // namespace qpscope::cli
