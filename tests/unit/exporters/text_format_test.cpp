// SPDX-License-Identifier: Apache-2.0
#include "exporters/text_format.h"

#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

using namespace qpscope;
using namespace qpscope::text_format;

namespace {

std::string number(double value) {
  std::string out;
  append_number(out, value);
  return out;
}

std::string label(std::string_view value) {
  constexpr MetricDef def{"t_a", MetricType::gauge, "One.", LabelNames{"l"}};
  std::string out;
  append_series(out, def, {value}, 1.0);
  REQUIRE(out.starts_with("t_a{l=\""));
  REQUIRE(out.ends_with("\"} 1\n"));
  return out.substr(7, out.size() - 7 - 5);
}

bool reads_back(double value) {
  const std::string text = number(value);
  char* end = nullptr;
  return std::strtod(text.c_str(), &end) == value && *end == '\0';
}

}  // namespace

TEST_CASE("integers are written without exponent, to the last digit", "[exporters.text_format]") {
  CHECK(number(0) == "0");
  CHECK(number(1000000) == "1000000");
  CHECK(number(-3) == "-3");
  CHECK(number(9007199254740991) == "9007199254740991");                     // 2^53 - 1
  CHECK(number(12345678901234568) == "12345678901234568");
  CHECK(number(18446744073709551615.0) == "18446744073709551616");           // the double next to 2^64 - 1
  CHECK(number(4 * 18446744073709551615.0) == "73786976294838206464");
}

TEST_CASE("whole numbers are written as the library would, on both sides of 2^53", "[exporters.text_format]") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20'000; ++i) {
    const auto value = static_cast<double>(random() >> (random() % 64));
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.begin(), digits.end(), value, std::chars_format::fixed).ptr;
    REQUIRE(number(value) == std::string(digits.data(), end));
  }
  CHECK(number(-0.0) == "-0");
}

TEST_CASE("fractions are as short as can be", "[exporters.text_format]") {
  CHECK(number(0.1) == "0.1");
  CHECK(number(0.0001) == "0.0001");
  CHECK(number(0.00001) == "1e-05");
  CHECK(number(1e21) == "1e+21");
  CHECK(number(1767225600.123456) == "1767225600.123456");
}

TEST_CASE("what is no number has the format's own words", "[exporters.text_format]") {
  CHECK(number(std::nan("")) == "NaN");
  CHECK(number(-std::nan("")) == "NaN");
  CHECK(number(HUGE_VAL) == "+Inf");
  CHECK(number(-HUGE_VAL) == "-Inf");
}

TEST_CASE("every double is read back as itself", "[exporters.text_format]") {
  using Limits = std::numeric_limits<double>;
  for (const double value : {Limits::max(), Limits::lowest(), Limits::min(), -Limits::min(), Limits::denorm_min(), -2.2250738585072014e-308, 0x1p53, 0x1p64}) CHECK(reads_back(value));
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t bits = random();
    if (const auto any = std::bit_cast<double>(bits); std::isfinite(any)) REQUIRE(reads_back(any));
    REQUIRE(reads_back(static_cast<double>(bits)));
    REQUIRE(reads_back(static_cast<double>(bits >> 11) / 1e6));
  }
}

TEST_CASE("a label value stays within its quotes", "[exporters.text_format]") {
  CHECK(label("").empty());
  CHECK(label("plain") == "plain");
  CHECK(label("\"") == "\\\"");
  CHECK(label("a\\b\nc\"\"") == "a\\\\b\\nc\\\"\\\"");
}

TEST_CASE("HELP stays on its line, and its quotes as they are", "[exporters.text_format]") {
  constexpr MetricDef def{"t_a", MetricType::gauge, "One \\ two\nthree \"four\".", {}};
  std::string out;
  append_head(out, def);
  CHECK(out == "# HELP t_a One \\\\ two\\nthree \"four\".\n# TYPE t_a gauge\n");
}

TEST_CASE("a histogram without labels, and one with no observation", "[exporters.text_format]") {
  static constexpr std::array<double, 2> bounds{0.0001, 5};
  constexpr MetricDef def{"t_seconds", MetricType::histogram, "Times.", {}};
  std::string out;
  CHECK(append_series(out, def, {}, HistogramValue{bounds, {1, 0, (1ULL << 53) + 1}, 0.25}) == 5);
  CHECK(out ==
        "t_seconds_count 9007199254740994\nt_seconds_sum 0.25\nt_seconds_bucket{le=\"0.0001\"} 1\nt_seconds_bucket{le=\"5\"} 1\n"
        "t_seconds_bucket{le=\"+Inf\"} 9007199254740994\n");
  out.clear();
  append_series(out, def, {}, HistogramValue{bounds, {0, 0, 0}, 0});
  CHECK(out == "t_seconds_count 0\nt_seconds_sum 0\nt_seconds_bucket{le=\"0.0001\"} 0\nt_seconds_bucket{le=\"5\"} 0\nt_seconds_bucket{le=\"+Inf\"} 0\n");
}
