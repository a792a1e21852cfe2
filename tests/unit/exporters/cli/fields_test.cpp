// SPDX-License-Identifier: Apache-2.0
#include "exporters/cli/fields.h"

#include <catch2/catch.hpp>

#include "exporters/cli/port_rates.h"
#include "exporters/cli/rate_book.h"

using namespace qpscope::cli;

TEST_CASE("fields of anything are known or not", "[exporters.cli.fields]") {
  const Json object{{"text", "a\nb"}, {"number", 7}, {"counter", "18446744073709551615"}, {"list", {1}}, {"null", nullptr}};
  CHECK(text_of(object, "text") == "a\\x0ab");
  CHECK(text_of(object, "number") == "7");
  for (const char* key : {"list", "null", "missing"}) {
    CHECK_FALSE(text_of(object, key));
    CHECK_FALSE(number_of(object, key));
  }
  CHECK(number_of(object, "counter") == 18446744073709551615.0);
  CHECK(number_of(object, "number") == 7);
  for (const char* text : {"", "7 ", "nan", "inf", "1e999", "x"}) CHECK_FALSE(number_of(Json(text)));
  for (const Json& none : {Json(), Json(1), Json("x"), Json::array({1})}) CHECK(child(none, "key").is_null());
}

TEST_CASE("a rate is the mean of what was sampled", "[exporters.cli.fields]") {
  const Json port{{"history", {{"rx_bytes", {100, nullptr, 1, nullptr, 3}}, {"tx_bytes", {5, nullptr}}, {"odd", 7}}}};
  CHECK(recent_rate(port, "rx_bytes", 2, 6) == 2);    // the newest three
  CHECK(recent_rate(port, "rx_bytes", 2, 1e9) == Approx(104.0 / 3));
  CHECK(recent_rate(port, "rx_bytes", 60, 6) == 3);   // one at least
  CHECK_FALSE(recent_rate(port, "tx_bytes", 2, 2));   // not sampled is not zero
  CHECK(recent_rate(port, "tx_bytes", 2, 4) == 5);
  for (const char* name : {"odd", "missing"}) CHECK_FALSE(recent_rate(port, name, 2, 10));
  for (const double interval : {0.0, -1.0}) CHECK_FALSE(recent_rate(port, "rx_bytes", interval, 10));
  CHECK_FALSE(recent_rate(Json(), "rx_bytes", 2, 10));
}

TEST_CASE("totals become rates over ten seconds", "[exporters.cli.fields]") {
  RateBook book;
  const auto round = [&](double time, double total) {
    book.begin(time);
    book.add("a", total);
    book.end();
  };
  round(100, 1000);
  CHECK_FALSE(book.rate("a"));
  round(100, 1000);  // the same picture
  CHECK_FALSE(book.rate("a"));
  round(102, 1200);
  CHECK(book.rate("a") == 100);
  for (int i = 1; i <= 20; ++i) round(102 + i, 1200);
  CHECK(book.rate("a") == 0);
  round(123, 5);  // it fell: somebody else's total
  CHECK_FALSE(book.rate("a"));
  round(124, 15);
  CHECK(book.rate("a") == 10);
  round(50, 20);  // the clock was set back
  CHECK_FALSE(book.rate("a"));
  book.begin(51);
  book.end();
  round(52, 30);  // it was away
  CHECK_FALSE(book.rate("a"));
}
