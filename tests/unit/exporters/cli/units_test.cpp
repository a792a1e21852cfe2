// SPDX-License-Identifier: Apache-2.0
#include "exporters/cli/units.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>
#include <limits>

using namespace qpscope::cli;

TEST_CASE("rates of links are in bits and thousands", "[exporters.cli.units]") {
  CHECK(bit_rate(0) == "0 bit/s");
  CHECK(bit_rate(50e9) == "400 Gbit/s");
  CHECK(bit_rate(1.1e9) == "8.8 Gbit/s");
  CHECK(bit_rate(124.99) == "1 kbit/s");  // never "1000 bit/s"
  CHECK(bit_rate(124999999) == "1 Gbit/s");
  CHECK(bit_rate(1e300).ends_with(" Pbit/s"));
}

TEST_CASE("memory is in bytes and 1024", "[exporters.cli.units]") {
  CHECK(bytes(0) == "0 B");
  CHECK(bytes(1023) == "1023 B");
  CHECK(bytes(1024) == "1 KiB");
  CHECK(bytes(13800000) == "13.2 MiB");
}

TEST_CASE("amounts are exact while they are short", "[exporters.cli.units]") {
  CHECK(amount(0) == "0");
  CHECK(amount(99999) == "99999");
  CHECK(amount(123456) == "123k");
  CHECK(amount(999999) == "1M");
  CHECK(amount(0.5) == "0.5");
  CHECK(amount(18446744073709551615.0) == "18.4E");
  CHECK(amount(std::numeric_limits<double>::max()).size() < 400);
}

TEST_CASE("little is not nothing", "[exporters.cli.units]") {
  CHECK(per_second(0) == "0/s");
  CHECK(per_second(0.001) == "<0.01/s");
  CHECK(per_second(0.02) == "0.02/s");
  CHECK(per_second(1234) == "1.23k/s");
  CHECK(percent(0) == "0 %");
  CHECK(percent(0.00001) == "<0.01 %");
  CHECK(percent(0.153) == "15.3 %");
  CHECK(percent(1) == "100 %");
}

TEST_CASE("durations have two units at most", "[exporters.cli.units]") {
  CHECK(duration(-5) == "0s");
  CHECK(duration(59.9) == "59s");
  CHECK(duration(192) == "3m12s");
  CHECK(duration(3600 * 5 + 180) == "5h03m");
  CHECK(duration(86400 * 4 + 7200) == "4d02h");
  CHECK(duration(1e300).size() < 12);
}

TEST_CASE("a time that is none is no crash", "[exporters.cli.units]") {
  CHECK(clock_time(1796051798.5).size() == 14);
  CHECK(clock_time(1e300) == "-");
  CHECK(clock_time(-1e300) == "-");
}
