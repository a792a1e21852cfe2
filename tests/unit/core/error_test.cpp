// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"

#include <catch2/catch.hpp>
#include <cerrno>

#include "core/collector.h"

using namespace qpscope;

TEST_CASE("the code follows from errno, and the text names both", "[core.error]") {
  CHECK(io_error("open x", ENOENT).code == ErrorCode::not_found);
  CHECK(io_error("open x", ENODEV).code == ErrorCode::not_found);
  CHECK(io_error("open x", EACCES).code == ErrorCode::permission);
  CHECK(io_error("open x", EPERM).code == ErrorCode::permission);
  CHECK(io_error("open x", EOPNOTSUPP).code == ErrorCode::unsupported);
  const Error other = io_error("read x", EINVAL);
  CHECK(other.code == ErrorCode::io);
  CHECK(other.sys_errno == EINVAL);
  CHECK(other.what == "read x: Invalid argument");
}

TEST_CASE("errno has its name, or its number", "[core.error]") {
  CHECK(errno_name(EINVAL) == "EINVAL");
  CHECK(errno_name(599) == "errno 599");
}

TEST_CASE("failed reads are counted by source and error, and the first is told", "[core.error]") {
  ReadErrors errors;
  CounterLedger ledger;
  const ClockFn now = [] { return BootTime{}; };
  Reading reading{.samples = {}, .errors = errors, .ledger = ledger, .now = now};
  reading.failed("counters", io_error("read a", EINVAL));
  reading.failed("counters", io_error("read b", EINVAL));
  reading.failed("port", Error{ErrorCode::parse, 0, "no number"});
  CHECK(reading.trouble == "read a: Invalid argument");
  CHECK(reading.troubles == 3);
  REQUIRE(errors.counts().size() == 2);
  CHECK(errors.counts().at({"counters", "EINVAL"}) == 2);
  CHECK(errors.counts().at({"port", "parse"}) == 1);
}
