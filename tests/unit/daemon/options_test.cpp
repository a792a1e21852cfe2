// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <catch2/catch.hpp>
#include <iostream>
#include <sstream>
#include <vector>

using namespace qpscope;
using Catch::Contains;
using Mode = Options::Mode;

namespace {

struct Parsed {
  std::expected<Options, int> result;
  std::string out, err;
  Mode mode() const { return result.value().mode; }
};

Parsed parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "qpscoped");
  std::vector<char*> argv;
  for (std::string& one : arguments) argv.push_back(one.data());
  argv.push_back(nullptr);
  std::ostringstream out, err;
  auto* const real_out = std::cout.rdbuf(out.rdbuf());
  auto* const real_err = std::cerr.rdbuf(err.rdbuf());
  auto result = parse_options(static_cast<int>(arguments.size()), argv.data());
  std::cout.rdbuf(real_out);
  std::cerr.rdbuf(real_err);
  return {result, out.str(), err.str()};
}

}  // namespace

TEST_CASE("no arguments: the daemon on this host", "[daemon.options]") {
  const auto parsed = parse({});
  REQUIRE(parsed.result);
  CHECK(parsed.mode() == Mode::run);
  CHECK(parsed.result->root == "/");
  CHECK_FALSE(parsed.result->config);
}

TEST_CASE("each mode has its flag", "[daemon.options]") {
  CHECK(parse({"--check"}).mode() == Mode::check);
  CHECK(parse({"--print-config"}).mode() == Mode::print_config);
  CHECK(parse({"--print-metrics"}).mode() == Mode::print_metrics);
  const auto once = parse({"--root", "/x", "--once", "--samples", "3", "--interval", "0.5", "--config", "f.yaml"});
  CHECK(once.mode() == Mode::once);
  CHECK(once.result->root == "/x");
  CHECK(once.result->samples == 3);
  CHECK(once.result->interval == 0.5);
  CHECK(once.result->config == "f.yaml");
  const auto owner = parse({"--owner", "123"});
  CHECK(owner.mode() == Mode::owner);
  CHECK(owner.result->owner == 123);
}

TEST_CASE("--help and --version print and end well", "[daemon.options]") {
  const auto help = parse({"--help"});
  CHECK(help.result == std::unexpected(0));
  for (const char* word : {"--config", "--root", "--once", "--samples", "--interval", "--check", "--owner", "--print-config",
                           "--print-metrics", "--version", "/etc/qpscope/qpscope.yaml", "9879", "Exit codes"}) {
    CHECK_THAT(help.out, Contains(word));
  }
  const auto version = parse({"--version"});
  CHECK(version.result == std::unexpected(0));
  CHECK_THAT(version.out, Catch::StartsWith("qpscoped "));
}

TEST_CASE("mistakes end with 2 and are explained", "[daemon.options]") {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases{
      {{"--nonsense"}, "nonsense"},
      {{"stray"}, "stray"},
      {{"--config"}, "--config"},
      {{"--samples", "3"}, "--once"},
      {{"--interval", "1"}, "--once"},
      {{"--once", "--samples", "0"}, "--samples"},
      {{"--once", "--samples", "x"}, "--samples"},
      {{"--once", "--interval", "-1"}, "--interval"},
      {{"--once", "--interval", "nan"}, "--interval"},
      {{"--once", "--interval", "inf"}, "--interval"},
      {{"--owner", "0"}, "--owner"},
      {{"--owner", "-5"}, "--owner"},
      {{"--owner", "99999999"}, "--owner"},
      {{"--once", "--check"}, "choose one"},
      {{"--print-config", "--print-metrics"}, "choose one"},
      {{"--owner", "1", "--once"}, "choose one"},
  };
  for (const auto& [arguments, word] : cases) {
    INFO(arguments.front());
    const auto parsed = parse(arguments);
    CHECK(parsed.result == std::unexpected(2));
    CHECK_THAT(parsed.err, Contains(word));
    CHECK(parsed.out.empty());
  }
}
