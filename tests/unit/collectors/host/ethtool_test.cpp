// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/ethtool.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <deque>

#include "support/fake_ethtool.h"
#include "unit/collectors/host/temp_tree.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

// A set for each question, in turn; the last one stays.
struct Script : EthtoolCalls {
  std::deque<Statistics> sets;
  std::vector<std::string> asked;

  NetdevStatistics next(const char* question) {
    asked.push_back(question);
    const NetdevStatistics now = statistics_of(sets.front());
    if (sets.size() > 1) sets.pop_front();
    return now;
  }
  Result<std::size_t> count(const std::string&) override { return next("count").values.size(); }
  Result<std::string> names(const std::string&, std::size_t) override { return next("names").names; }
  Result<std::vector<std::uint64_t>> values(const std::string&, std::size_t) override { return next("values").values; }
};

const Statistics kThree{{"a", 1}, {"rx_prio3_pause", 33}}, kFour{{"a", 1}, {"rx_prio4_pause", 44}}, kBoth{{"a", 1}, {"rx_prio3_pause", 33}, {"rx_prio4_pause", 44}};

}  // namespace

TEST_CASE("statistics: names before and after the values", "[host.ethtool]") {
  Script calls;
  calls.sets = {kThree};
  const auto read = consistent_statistics(calls, "eth0");
  REQUIRE(read);
  CHECK(read->name(1) == "rx_prio3_pause");
  CHECK(read->values == std::vector<std::uint64_t>{1, 33});
  CHECK(calls.asked == std::vector<std::string>{"count", "names", "values", "names"});
}

TEST_CASE("statistics: a set that changes between the questions is read again, once", "[host.ethtool]") {
  Script calls;
  SECTION("names before the values, as many") { calls.sets = {kThree, kThree, kFour, kFour, kFour}; }
  SECTION("names after the values, as many") { calls.sets = {kThree, kThree, kThree, kFour, kFour}; }
  SECTION("more before the names") { calls.sets = {kThree, kBoth, kBoth, kBoth, kFour}; }
  SECTION("more before the values") { calls.sets = {kThree, kThree, kBoth, kBoth, kFour}; }
  SECTION("fewer") { calls.sets = {kBoth, kFour, kFour, kFour, kFour}; }
  const auto read = consistent_statistics(calls, "eth0");
  REQUIRE(read);
  CHECK(read->names == statistics_of(kFour).names);
  CHECK(read->values == std::vector<std::uint64_t>{1, 44});
}

TEST_CASE("statistics: a set that changes again is an error", "[host.ethtool]") {
  Script calls;
  calls.sets = {kThree, kThree, kFour, kFour, kThree, kThree, kThree, kFour};
  const auto read = consistent_statistics(calls, "eth0");
  REQUIRE_FALSE(read);
  CHECK(read.error().sys_errno == EAGAIN);
  CHECK(calls.asked.size() == 8);
}

TEST_CASE("statistics: none, and too many", "[host.ethtool]") {
  Script calls;
  calls.sets = {{}};
  CHECK(consistent_statistics(calls, "eth0").error().code == ErrorCode::unsupported);
  CHECK(calls.asked == std::vector<std::string>{"count"});  // asked for the names of none, the kernel warns
  calls.sets = {Statistics(kMostStatistics, {"a", 1})};
  CHECK(consistent_statistics(calls, "eth0")->values.size() == kMostStatistics);
  calls.sets = {Statistics(kMostStatistics + 1, {"a", 1})};
  calls.asked.clear();
  CHECK(consistent_statistics(calls, "eth0").error().code == ErrorCode::limit);
  CHECK(calls.asked == std::vector<std::string>{"count"});
}

TEST_CASE("statistics: a name of full length has no NUL", "[host.ethtool]") {
  const NetdevStatistics read = statistics_of({{std::string(40, 'x'), 1}, {"y", 2}});
  CHECK(read.name(0) == std::string(kStatisticName, 'x'));
  CHECK(read.name(1) == "y");
}

TEST_CASE("statistics as text", "[host.ethtool]") {
  const auto read = parse_ethtool_text("NIC statistics:\n     rx_packets: 5\n     [0]: rx_ucast_packets: 81022\n     tx_priority_0_xoff.nic: 18446744073709551615\n", "here");
  REQUIRE(read);
  CHECK(read->values == std::vector<std::uint64_t>{5, 81022, 18446744073709551615U});
  CHECK(read->name(0) == "rx_packets");
  CHECK(read->name(1) == "[0]: rx_ucast_packets");
  CHECK(parse_ethtool_text("no stats available\n", "here").error().code == ErrorCode::unsupported);
  CHECK(parse_ethtool_text("", "here").error().code == ErrorCode::unsupported);
  CHECK(parse_ethtool_text("NIC statistics:\n", "here").error().code == ErrorCode::unsupported);
  for (const char* bad : {"rx_packets", "rx_packets:5", ": 5", "rx: x", "rx: -1", "rx: 18446744073709551616", "this_name_is_longer_than_32_bytes: 1"}) {
    INFO(bad);
    const auto refused = parse_ethtool_text("a: 1\n" + std::string(bad), "here");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::parse);
    CHECK(refused.error().what.contains("here line 2"));
  }
  std::string many;
  for (std::size_t i = 0; i <= kMostStatistics; ++i) many += "a: 1\n";
  CHECK(parse_ethtool_text(many, "here").error().code == ErrorCode::limit);
}

TEST_CASE("statistics of a folder", "[host.ethtool]") {
  const TempTree tree;
  tree.file("ethtool/eth0.txt", "NIC statistics:\n     rx_packets: 5\n");
  const Sysroot root = Sysroot::open(tree.path()).value();
  const auto ethtool = text_ethtool(root);
  CHECK(ethtool->statistics("eth0")->values == std::vector<std::uint64_t>{5});
  CHECK(ethtool->statistics("eth1").error().code == ErrorCode::not_found);
  CHECK_FALSE(ethtool->driver("eth0"));
}

TEST_CASE("statistics of this machine", "[host.ethtool]") {
  const auto ethtool = kernel_ethtool();
  CHECK(ethtool->statistics("no-such-netdev").error().code == ErrorCode::not_found);
  CHECK(ethtool->statistics("a name too long for one").error().code == ErrorCode::not_found);
  CHECK(ethtool->statistics("lo").error().code == ErrorCode::unsupported);
}
