// SPDX-License-Identifier: Apache-2.0
#include "exporters/cli/text_width.h"

#include <catch2/catch.hpp>

using namespace qpscope::cli;

TEST_CASE("columns are what a terminal needs", "[exporters.cli.text_width]") {
  CHECK(columns_of("") == 0);
  CHECK(columns_of("train") == 5);
  CHECK(columns_of("läb") == 3);
  CHECK(columns_of("計算") == 4);
  CHECK(columns_of("🚀") == 2);
}

TEST_CASE("what has no width of its own is a question mark", "[exporters.cli.text_width]") {
  CHECK(displayable("e\u0301") == "e?");              // an accent for the letter before
  CHECK(displayable("a\u200db") == "a?b");            // a joiner
  CHECK(displayable("a\xf3\xa0\x80\x81z") == "a?z");  // a tag character
  CHECK(displayable("läb 計算 🚀") == "läb 計算 🚀");
}

TEST_CASE("nothing breaks out of its line", "[exporters.cli.text_width]") {
  const std::string text = displayable("\x1b[2J\r\n\t\u202e\xc2\x9b\xff");
  CHECK(text == "\\x1b[2J\\x0d\\x0a\\x09\\xe2\\x80\\xae\\xc2\\x9b\\xff");
  CHECK(displayable(text) == text);
}

TEST_CASE("what is too long ends in dots, and never in half a character", "[exporters.cli.text_width]") {
  CHECK(fit("train", 5) == "train");
  CHECK(fit("train", 4) == "tra…");
  CHECK(fit("train", 1) == "…");
  CHECK(fit("train", 0).empty());
  CHECK(fit("計算機", 6) == "計算機");
  CHECK(fit("計算機", 5) == "計算…");
  CHECK(fit("計算機", 4) == "計…");
  for (std::size_t columns = 0; columns < 9; ++columns) CHECK(columns_of(fit("a計b算c機", columns)) <= columns);
}
