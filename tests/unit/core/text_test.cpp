// SPDX-License-Identifier: Apache-2.0
#include "core/text.h"

#include <array>
#include <catch2/catch.hpp>
#include <random>

#include "support/utf8.h"

using namespace qpscope;
using namespace qpscope::test;
using namespace std::string_literals;

TEST_CASE("harmless text stays as it is", "[core.text]") {
  for (const std::string& text : {""s, "python3"s, "/system.slice/a b.service"s, "Größe"s, "日本語"s, "😀"s, "\xf4\x8f\xbf\xbf"s,
                                  "\"quoted\""s, "\xed\x9f\xbf"s, "\xee\x80\x80"s}) {
    CHECK(safe_text(text) == text);
  }
}

TEST_CASE("plain text is what safe_text leaves alone", "[core.text]") {
  CHECK(is_plain(""));
  CHECK(is_plain("mlx5_0 \"x\" ~"));
  CHECK(is_plain(std::string(kMaxText, 'x')));
  CHECK_FALSE(is_plain(std::string(kMaxText + 1, 'x')));
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    CHECK(is_plain(text) == (safe_text(text) == text));
  }
}

TEST_CASE("invalid UTF-8 becomes visible, byte by byte", "[core.text]") {
  CHECK(safe_text("\xc0\xaf") == "\\xc0\\xaf");           // overlong "/"
  CHECK(safe_text("\xe0\x80\xaf") == "\\xe0\\x80\\xaf");  // overlong
  CHECK(safe_text("\xf0\x80\x80\xaf") == "\\xf0\\x80\\x80\\xaf");
  CHECK(safe_text("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // surrogate
  CHECK(safe_text("\xed\xbf\xbf") == "\\xed\\xbf\\xbf");
  CHECK(safe_text("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  CHECK(safe_text("\xf8\x88\x80\x80\x80") == "\\xf8\\x88\\x80\\x80\\x80");
  CHECK(safe_text("\xff\xfe") == "\\xff\\xfe");
  CHECK(safe_text("a\x80z") == "a\\x80z");  // a continuation without a start
}

TEST_CASE("a character cut at the end loses only itself", "[core.text]") {
  CHECK(safe_text("ab\xc3") == "ab\\xc3");
  CHECK(safe_text("ab\xe6\x97") == "ab\\xe6\\x97");
  CHECK(safe_text("ab\xf0\x9f\x98") == "ab\\xf0\\x9f\\x98");
  CHECK(safe_text("\xe6\x97x") == "\\xe6\\x97x");  // and in the middle it does not swallow what follows
}

TEST_CASE("what moves a cursor or reorders a line is escaped", "[core.text]") {
  CHECK(safe_text("a\nb\tc\rd") == "a\\x0ab\\x09c\\x0dd");
  CHECK(safe_text("\x1b[2J") == "\\x1b[2J");
  CHECK(safe_text("\0x"s) == "\\x00x");
  CHECK(safe_text("\x7f") == "\\x7f");
  CHECK(safe_text("\xc2\x9b") == "\\xc2\\x9b");  // C1: CSI
  CHECK(safe_text("\xc2\x80\xc2\x9f\xc2\xa0") == "\\xc2\\x80\\xc2\\x9f\xc2\xa0");
  CHECK(safe_text("\xe2\x80\xa8\xe2\x80\xa9") == "\\xe2\\x80\\xa8\\xe2\\x80\\xa9");  // separators
  for (const std::string& bidi : {"\xd8\x9c"s, "\xe2\x80\x8e"s, "\xe2\x80\x8f"s, "\xe2\x80\xaa"s, "\xe2\x80\xab"s, "\xe2\x80\xac"s,
                                  "\xe2\x80\xad"s, "\xe2\x80\xae"s, "\xe2\x81\xa6"s, "\xe2\x81\xa7"s, "\xe2\x81\xa8"s, "\xe2\x81\xa9"s}) {
    CHECK(safe_text(bidi).find(bidi) == std::string::npos);
  }
}

TEST_CASE("a backslash cannot forge an escape", "[core.text]") {
  CHECK(safe_text("\\") == "\\x5c");
  CHECK(safe_text("\\x0a") == "\\x5cx0a");
  CHECK(safe_text("\\x0a") != safe_text("\n"));
}

TEST_CASE("128 bytes fit, 129 are cut and hashed", "[core.text]") {
  const std::string fits(128, 'a');
  CHECK(safe_text(fits) == fits);
  const std::string cut = safe_text(std::string(129, 'a'));
  CHECK(cut.size() == 128);
  CHECK(cut.substr(0, 112) == std::string(111, 'a') + "~");
  CHECK(cut.find_first_not_of("0123456789abcdef", 112) == std::string::npos);
  CHECK(safe_text(std::string(124, 'a') + "\n").size() == 128);  // the escape is the last that fits
  CHECK(safe_text(std::string(125, 'a') + "\n").find('~') == 111);
}

TEST_CASE("the cut falls between characters and never inside an escape", "[core.text]") {
  for (std::size_t lead = 105; lead < 112; ++lead) {
    for (const std::string& character : {"é"s, "日"s, "😀"s, "\n"s}) {
      const std::string out = safe_text(std::string(lead, 'a') + character + std::string(100, 'b'));
      INFO(out);
      CHECK(out.size() <= kMaxText);
      CHECK(valid_utf8(out));
      const std::string head = out.substr(lead, out.size() - lead - 17);
      const std::string shown = character == "\n" ? "\\x0a" : character;
      CHECK((head.empty() || head.starts_with(shown)));
      CHECK(head.empty() == (lead + shown.size() > 111));
    }
  }
}

TEST_CASE("long names with one beginning stay two names", "[core.text]") {
  const std::string common(300, 'x');
  CHECK(safe_text(common + "a") != safe_text(common + "b"));
  CHECK(safe_text(common + "a") == safe_text(common + "a"));
  CHECK(safe_text(common) != safe_text(common + "x"));
}

TEST_CASE("any bytes come out as short valid UTF-8 without control characters", "[core.text]") {
  std::mt19937 random(20240501);
  const std::array<std::string_view, 8> interesting{"\xe2\x80\xae", "\xc2\x9b", "\xf0\x9f\x98\x80", "\\", "\xed\xa0\x80", "\xc3",
                                                    "\n",           "a"};
  for (int round = 0; round < 20000; ++round) {
    std::string bytes;
    const auto length = random() % 200;
    while (bytes.size() < length) {
      if (random() % 2) {
        bytes += interesting[random() % interesting.size()];
      } else {
        bytes += static_cast<char>(random() % 256);
      }
    }
    const std::string out = safe_text(bytes);
    if (out.size() > kMaxText || !valid_utf8(out) || has_control(out)) FAIL("unsafe: " << Catch::StringMaker<std::string>::convert(bytes));
  }
  SUCCEED();
}

TEST_CASE("trim", "[core.text]") {
  CHECK(trim(" \t4: ACTIVE\r\n\0"s) == "4: ACTIVE");
  CHECK(trim("a b") == "a b");
  CHECK(trim(" \n").empty());
  CHECK(trim("").empty());
}

TEST_CASE("a message keeps its length and its backslashes, and stays one safe line", "[core.text]") {
  CHECK(safe_message("cannot read \\x41: No such file") == "cannot read \\x41: No such file");
  CHECK(safe_message("a\nb\x1b[31m\xe2\x82") == "a\\x0ab\\x1b[31m\\xe2\\x82");
  const std::string longer(1000, 'x');
  CHECK(safe_message(longer) == longer);
  std::mt19937_64 random(5);
  for (int round = 0; round < 500; ++round) {
    std::string bytes(random() % 300, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 256);
    const std::string out = safe_message(bytes);
    REQUIRE((valid_utf8(out) && !has_control(out)));
  }
}
