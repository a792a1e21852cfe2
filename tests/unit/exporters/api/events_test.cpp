// SPDX-License-Identifier: Apache-2.0
#include "exporters/api/events.h"

#include <catch2/catch.hpp>

#include "support/api_answer.h"
#include "support/fake_clock.h"

using namespace qpscope;
using namespace qpscope::test;
using Catch::Contains;
using nlohmann::json;

namespace {

struct Fixture {
  EventHistory history{100};
  json ask(std::string_view text) const {
    const auto query = parse_event_query(text);
    INFO(text);
    REQUIRE(query);
    return data_of(events_response(history, "{\"data\":", *query, 1000.0));
  }
  std::vector<std::string> ids(std::string_view text) const {
    std::vector<std::string> out;
    const json data = ask(text);
    for (const json& one : data["events"]) out.push_back(one["id"]);
    return out;
  }
  void add(HistoryKind kind, const std::string& device) {
    history.add(kind, {kSecond}, [&] { return HistoryEvent{.at = {kSecond}, .device = device, .message = "m"}; });
  }
};

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("everything that is known of an event, and nothing else", "[exporters.events]") {
  Fixture f;
  CHECK(f.ask("") == json{{"events", json::array()}, {"next", "100"}, {"dropped", "0"}});
  f.history.add(HistoryKind::queue_pair_error, {kSecond}, [] {
    return HistoryEvent{.at = {kSecond + kSecond / 4}, .device = "mlx5_0", .port = {1}, .qpn = Qpn{4711}, .remote_qpn = Qpn{7}, .tenant = "lab\x1b", .workload = "a\nb",
                        .comm = "\xff\"", .pid = {42}, .remote_gid = Gid{}, .message = "a \"queue\npair"};
  });
  f.history.add(HistoryKind::daemon, {kSecond}, [] { return HistoryEvent{.at = {kSecond}, .severity = Severity::error, .message = "started"}; });
  CHECK(f.ask("")["events"] ==
        json{{{"id", "101"}, {"timestamp_seconds", 1001.25}, {"kind", "queue_pair_error"}, {"severity", "error"}, {"device", "mlx5_0"}, {"port", 1}, {"qpn", 4711},
              {"tenant", "lab\\x1b"}, {"workload", "a\\x0ab"}, {"pid", 42}, {"comm", "\\xff\""}, {"remote_gid", "0000:0000:0000:0000:0000:0000:0000:0000"},
              {"remote_qpn", 7}, {"message", "a \"queue\\x0apair"}},
             {{"id", "102"}, {"timestamp_seconds", 1001.0}, {"kind", "daemon"}, {"severity", "error"}, {"message", "started"}}});
}

TEST_CASE("events: filters and cursors", "[exporters.events]") {
  Fixture f;
  f.add(HistoryKind::port_state, "mlx5_0");
  f.add(HistoryKind::device_added, "mlx5_1");
  f.add(HistoryKind::port_state, "m\x1b");
  f.add(HistoryKind::port_state, "mlx5_0");
  CHECK(f.ids("") == Ids{"101", "102", "103", "104"});
  CHECK(f.ids("kind=port_state") == Ids{"101", "103", "104"});
  CHECK(f.ids("kind=port_state&kind=device_added&device=mlx5_1") == Ids{"102"});
  CHECK(f.ids("device=m%5cx1b") == Ids{"103"});
  CHECK(f.ids("limit=2") == Ids{"103", "104"});  // the newest
  CHECK(f.ask("limit=2")["next"] == "104");
  CHECK(f.ids("after=100&limit=2") == Ids{"101", "102"});  // the next
  CHECK(f.ask("after=100&limit=2")["next"] == "102");
  CHECK(f.ids("after=102&limit=2") == Ids{"103", "104"});
  CHECK(f.ask("after=102&limit=2")["next"] == "104");
  CHECK(f.ask("after=101&kind=device_added")["next"] == "104");  // what is not wanted is not looked at again
  CHECK(f.ids("after=104").empty());
  CHECK(f.ask("after=18446744073709551615")["next"] == "104");
}

TEST_CASE("events: whoever goes on from next sees every one once", "[exporters.events]") {
  Fixture f;
  std::string next = "0";
  Ids seen;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 5; ++i) f.add(i % 2 ? HistoryKind::port_state : HistoryKind::queue_pair_event, "mlx5_0");
    const json data = f.ask("limit=7&after=" + next);
    for (const json& one : data["events"]) seen.push_back(one["id"]);
    next = data["next"];
  }
  REQUIRE(seen.size() == 250);
  for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == std::to_string(101 + i));
}

TEST_CASE("events: a parameter that cannot be is named", "[exporters.events]") {
  for (const auto& [query, word] : std::initializer_list<std::pair<const char*, const char*>>{
           {"colour=red", "colour"}, {"kind=", "kind"}, {"kind=port", "kind"}, {"device=", "device"}, {"after=", "after"}, {"after=-1", "after"}, {"after=1x", "after"},
           {"after=18446744073709551616", "after"}, {"after=1&after=1", "after"}, {"limit=0", "limit"}, {"limit=10001", "limit"}, {"limit=1&limit=1", "limit"}, {"kind=%z", "kind"}}) {
    const auto parsed = parse_event_query(query);
    INFO(query);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == ErrorCode::invalid);
    CHECK_THAT(parsed.error().what, Contains(word));
  }
}
