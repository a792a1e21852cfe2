// SPDX-License-Identifier: Apache-2.0
// From what the daemon has to what a person reads.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "exporters/cli/incident_report.h"
#include "exporters/cli/incident_story.h"
#include "exporters/cli/text_width.h"
#include "exporters/incident/incident_json.h"
#include "support/made_incident.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

cli::Json file_of(const Incident& incident) { return cli::Json::parse(incident_text(incident).json); }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the file of an incident", "[exporters.incident]") {
  MadeHost host;
  const Incident incident = host.killed();
  const IncidentText text = incident_text(incident);
  const auto json = cli::Json::parse(text.json);
  CHECK(json["schema"] == kIncidentSchema);
  CHECK(json["id"] == "20261201T031502Z-queue_pair_deaths");
  CHECK(json["host"] == "node-a");
  CHECK(json["summary"] == text.summary);
  CHECK(text.summary ==
        "4 queue pairs on mlx5_0/1 ended within 10 s while work requests failed, all of them of physics/4711; the first was queue pair 3 on mlx5_0/1 of physics/4711 "
        "(python, pid 812) to 0000:0000:0000:0000:0000:ffff:c000:0207 qpn 1003");
  CHECK(json["first"]["queue_pair"]["qpn"] == 3);
  CHECK(json["first"]["how"] == "found_in_error");
  CHECK(json["endings"].size() == 5);
  CHECK(json["queue_pairs"].size() == 1);
  for (const auto& series : json["series"]) CHECK(series["values"].size() == incident.window.series.front().values.size());
  const auto sent = std::ranges::find_if(json["series"], [](const auto& one) { return one["name"] == "qpscope_port_tx_bytes_total"; });
  REQUIRE(sent != json["series"].end());
  CHECK((*sent)["values"][0].is_null());
  CHECK((*sent)["values"][10] == 1e8);
  // The head alone, as a list of many reads it.
  std::string head = text.json.substr(0, text.json.find('\n'));
  REQUIRE(head.ends_with(","));
  head.back() = '}';
  CHECK(cli::Json::parse(head)["summary"] == text.summary);
}

TEST_CASE("what went first, whose, to whom", "[exporters.incident]") {
  MadeHost host;
  const auto json = file_of(host.killed());
  const cli::IncidentStory story = cli::incident_story(json);
  CHECK(story.place == "mlx5_0/1");
  REQUIRE(story.went_first.size() >= 3);
  CHECK(story.went_first[0].text == "mlx5_0/1: port retransmits (sequence_nak) began: 0/s before, up to 130/s");
  CHECK(story.went_first[1].text ==
        "queue pair 3 (RC) on mlx5_0/1 of physics/4711 (python, pid 812) to ::ffff:192.0.2.7 qpn 1003 is in ERR and no call moved it there, after 8m50s in RTS: the first to end");
  CHECK(std::ranges::any_of(story.went_first, [](const auto& one) { return has(one.text, "port tx bytes ceased: 800 Mbit/s before"); }));
  REQUIRE_FALSE(story.owners.empty());
  CHECK(story.owners[0].owner == "physics/4711");
  CHECK(story.owners[0].ended == 4);
  CHECK(story.owners[0].found_in_error == 1);
  CHECK(story.owners[0].left == 0);
  REQUIRE_FALSE(story.rows.empty());
  const auto naks = std::ranges::find_if(story.rows, [](const auto& row) { return row.series->name == "port_retransmits_total"; });
  REQUIRE(naks != story.rows.end());
  CHECK(naks->part.before == 0);
  CHECK(naks->part.minute == Approx(10 * 130.0 / 60).epsilon(0.1));
  CHECK(naks->part.peak == 130);
  CHECK(std::ranges::is_sorted(story.timeline, {}, &cli::IncidentLine::time));
  CHECK(std::ranges::any_of(story.timeline, [](const auto& one) { return has(one.text, "queue pair 1 (RC)") && has(one.text, "and 2 more of that workload right after"); }));
  CHECK(std::ranges::none_of(story.timeline, [](const auto& one) { return has(one.text, "queue pair 77"); }));
}

TEST_CASE("the report is read from top to bottom, on any screen", "[exporters.incident]") {
  MadeHost host;
  const auto json = file_of(host.killed());
  const std::string report = cli::incident_report(json, {});
  std::size_t at = 0;
  for (const char* part : {"Incident 20261201T031502Z-queue_pair_deaths on node-a", "Why it was kept", "4 queue pairs on mlx5_0/1", "What went first", "retransmits (sequence_nak) began", "queue pair 3 (RC)", "Whose queue pairs",
                           "physics/4711", "What the ports did", "retransmits sequence_nak", "What happened", "trigger: 4 queue pairs"}) {
    const std::size_t found = report.find(part, at);
    INFO(part);
    REQUIRE(found != std::string::npos);
    at = found;
  }
  const std::string narrow = cli::incident_report(json, {.columns = 80, .rows = 24, .colour = false});
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < narrow.size();) {
    const std::size_t end = narrow.find('\n', begin);
    longest = std::max(longest, cli::columns_of(std::string_view(narrow).substr(begin, end - begin)));
    begin = end + 1;
  }
  CHECK(longest <= 80);
}

TEST_CASE("the page is one document that runs nothing and asks for nothing", "[exporters.incident]") {
  MadeHost host;
  const std::string page = cli::incident_page(file_of(host.killed()));
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(has(page, "default-src 'none'"));
  CHECK(has(page, "<polyline"));
  CHECK(has(page, "storage/&lt;script&gt;alert(1)&lt;/script&gt;"));
  for (const char* never : {"<script", "http://", "https://", "src=", "url(", "@import"}) {
    INFO(never);
    CHECK_FALSE(has(page, never));
  }
}

TEST_CASE("what is no incident of ours is no reason to fall over", "[exporters.incident]") {
  const char* text = GENERATE("{}", R"({"id":"x","time":1,"triggers":7,"series":[{"name":7,"labels":[],"values":"x"}],"endings":[1,{"time":"x"}],"events":{"a":1},"queue_pairs":[null]})",
                              R"({"id":"x","time":5,"began":1e300,"ended":-5,"series":[{"name":"qpscope_a_total","labels":{"device":{}},"values":[1,null,"7"]}],"first":3})");
  const auto json = cli::Json::parse(text);
  CHECK_FALSE(cli::incident_report(json, {}).empty());
  CHECK_FALSE(cli::incident_page(json).empty());
}
