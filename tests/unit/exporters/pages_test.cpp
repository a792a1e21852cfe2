// SPDX-License-Identifier: Apache-2.0
#include "exporters/pages.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "store.h"
#include "support/fake_clock.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

namespace {

constexpr MetricDef kValue{"t_value", MetricType::gauge, "A value (test).", {}};

struct Fixture {
  SnapshotStore store;
  bool ready = false;
  std::uint64_t sequence = 0;
  Pages pages{store, {.qp_limit = 2,
                      .ready = [this] { return ready; },
                      .api = {.wall_minus_boot = [] { return 1000.0; }, .now = [this] { return BootTime{sequence * kSecond}; }, .actions = {}}}};

  void publish(double value, std::size_t queue_pairs = 0) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->sequence = ++sequence;
    snapshot->at = {sequence * kSecond};
    snapshot->samples.push_back(std::make_shared<const SampleList>(SampleList{sample(kValue, {}, value)}));
    std::vector<QpRecord> records;
    for (std::uint32_t n = 1; n <= queue_pairs; ++n) {
      records.push_back(
          {.key = {kDev, {n}}, .qpn = {n}, .state = QpState::rts, .port = {1}, .owner = owner_of_thread(4000 + n), .created = BootTime{n}});
    }
    snapshot->queue_pairs = std::make_shared<const std::vector<QpRecord>>(std::move(records));
    snapshot->tenants = std::make_shared<const std::vector<Tenant>>(std::vector<Tenant>{{"unknown", "unknown"}});
    snapshot->devices = std::make_shared<const std::map<DeviceIndex, std::string>>(std::map<DeviceIndex, std::string>{{kDev, "mlx5_0"}});
    store.publish(std::move(snapshot));
  }
  HttpResponse get(std::string_view path, HttpPeer peer = HttpPeer::allowed) { return pages.answer({.path = path, .peer = peer}); }
};

std::string whole(const HttpResponse& response) {
  if (!response.pieces) return *response.body;
  std::string out;
  for (std::string piece; !(piece = response.pieces()).empty();) out += piece;
  return out;
}

std::size_t series_in(const std::string& text) {
  std::size_t out = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) out += text[at] != '#';
  return out;
}

}  // namespace

TEST_CASE("before the first snapshot: alive, not ready, no half page", "[exporters.pages]") {
  Fixture f;
  CHECK(f.get("/healthz").status == 200);
  CHECK(f.get("/readyz").status == 503);
  CHECK(f.get("/metrics").status == 503);
  CHECK(f.get("/metrics/qps").status == 503);
  f.publish(1);
  f.ready = true;
  CHECK(f.get("/readyz").status == 200);
  CHECK(f.get("/metrics").status == 200);
  CHECK(f.get("/metrics/qps").status == 200);
}

TEST_CASE("the index names the pages, the unknown is 404", "[exporters.pages]") {
  Fixture f;
  CHECK(f.get("/").status == 200);
  CHECK_THAT(whole(f.get("/")), Contains("/metrics/qps"));
  for (const char* path : {"/metric", "/metrics/", "/metrics/qps/", "//", "/../etc/passwd", ""}) CHECK(f.get(path).status == 404);
}

TEST_CASE("/ is the status page for a browser, the list for everything else", "[exporters.pages]") {
  Fixture f;
  const auto front = [&](const char* accept) { return f.pages.answer({.path = "/", .peer = HttpPeer::stranger, .accept = accept}); };
  const auto page = front("text/html,application/xhtml+xml,*/*;q=0.8");
  CHECK(page.content_type == "text/html; charset=utf-8");
  CHECK_THAT(*page.body, StartsWith("<!DOCTYPE html>") && !Contains("<style></style>") && !Contains("<script></script>"));
  CHECK(front("text/html").body == page.body);  // the same object: compressed once
  for (const char* accept : {"", "*/*", "application/json"}) CHECK_THAT(*front(accept).body, StartsWith("qpscope\n"));
}

TEST_CASE("/metrics is rendered once for each snapshot", "[exporters.pages]") {
  Fixture f;
  f.publish(1);
  const auto first = f.get("/metrics", HttpPeer::stranger);
  CHECK(first.content_type == "text/plain; version=0.0.4; charset=utf-8");
  CHECK_THAT(*first.body, Contains("t_value 1\n"));
  CHECK(f.get("/metrics").body == first.body);  // the same object
  f.publish(2);
  CHECK_THAT(whole(f.get("/metrics")), Contains("t_value 2\n"));
}

TEST_CASE("/metrics has few queue pairs, no process, and counts its series", "[exporters.pages]") {
  Fixture f;
  f.publish(1, 5);
  const std::string text = whole(f.get("/metrics", HttpPeer::stranger));
  CHECK_THAT(text, Contains("qpscope_qp_state{device=\"mlx5_0\",port=\"1\",qpn=\"1\",generation=\"0\"} 3\n"));
  CHECK_THAT(text, Contains("qpn=\"2\"") && !Contains("qpn=\"3\""));
  CHECK_THAT(text, !Contains("pid=") && !Contains("comm="));
  CHECK(series_in(text) == 8);  // value, 3 families of 2, and qpscope_series
  CHECK_THAT(text, Contains("\nqpscope_series 8\n"));
}

TEST_CASE("/metrics/qps has all of them, with their process, for allowed peers", "[exporters.pages]") {
  Fixture f;
  f.publish(1, 5);
  const auto refused = f.get("/metrics/qps", HttpPeer::stranger);
  CHECK(refused.status == 403);
  CHECK_THAT(whole(refused), Contains("api.allow") && !Contains("4001"));
  const std::string text = whole(f.get("/metrics/qps"));
  CHECK_THAT(text, Contains("qpn=\"5\"") && Contains("pid=\"4005\"") && Contains("comm=\"job\""));
  CHECK(series_in(text) == 15);
}

TEST_CASE("every path says who may", "[exporters.pages]") {
  Fixture f;
  f.ready = true;
  f.publish(1, 1);
  struct Case {
    const char *method, *path;
    unsigned stranger, misnamed, allowed, on_socket;
  };
  for (const auto& [method, path, stranger, misnamed, allowed, on_socket] : std::initializer_list<Case>{
           {"GET", "/", 200, 200, 200, 200},
           {"GET", "/metrics", 200, 200, 200, 200},
           {"GET", "/healthz", 200, 200, 200, 200},
           {"GET", "/readyz", 200, 200, 200, 200},
           {"GET", "/metrics/qps", 403, 403, 200, 200},
           {"GET", "/api/v1/qps", 403, 403, 200, 200},
           {"POST", "/api/v1/focus", 403, 403, 403, 400},
           {"POST", "/api/v1/qps", 405, 405, 405, 405},
           {"GET", "/api/v1/focus", 405, 405, 405, 405},
           {"BREW", "/metrics", 405, 405, 405, 405},
           {"GET", "/api/v1", 404, 404, 404, 404},
           {"POST", "/nowhere", 404, 404, 404, 404},
       }) {
    INFO(method << " " << path);
    const auto status = [&](HttpPeer peer) { return f.pages.answer({.method = method, .path = path, .peer = peer}).status; };
    CHECK(status(HttpPeer::stranger) == stranger);
    CHECK(status(HttpPeer::misnamed) == misnamed);
    CHECK(status(HttpPeer::allowed) == allowed);
    CHECK(status(HttpPeer::on_socket) == on_socket);
  }
  CHECK(f.pages.answer({.method = "BREW", .path = "/metrics"}).allow == "GET, HEAD");
  CHECK(f.pages.answer({.path = "/api/v1/focus"}).allow == "POST");
}

TEST_CASE("a refusal says what to do, in the path's own language", "[exporters.pages]") {
  Fixture f;
  f.publish(1, 1);
  CHECK_THAT(whole(f.get("/metrics/qps", HttpPeer::misnamed)), Contains("api.hosts"));
  const auto refused = f.get("/api/v1/qps", HttpPeer::misnamed);
  CHECK(refused.content_type == "application/json");
  CHECK_THAT(whole(refused), StartsWith("{\"error\":{\"code\":\"forbidden\",\"message\":\"") && Contains("api.hosts") && EndsWith("\"}}\n"));
  CHECK_THAT(whole(f.get("/api/v2/qps")), StartsWith("{\"error\":{\"code\":\"not_found\""));
  const auto large = f.pages.answer({.method = "POST", .path = "/api/v1/focus", .peer = HttpPeer::on_socket, .oversized = true});
  CHECK(large.status == 413);
  CHECK_THAT(whole(large), Contains("too_large") && Contains("65536"));
}

TEST_CASE("a page in pieces is of one snapshot", "[exporters.pages]") {
  Fixture f;
  f.publish(1, 5);
  const auto page = f.get("/metrics/qps");
  std::string text = page.pieces();
  f.publish(2, 1);
  for (std::string piece; !(piece = page.pieces()).empty();) text += piece;
  CHECK(series_in(text) == 15);
}

TEST_CASE("no queue pairs is a page too", "[exporters.pages]") {
  Fixture f;
  f.publish(1, 0);
  CHECK(whole(f.get("/metrics/qps")).empty());
  CHECK_THAT(whole(f.get("/metrics")), !Contains("qpscope_qp_"));
}

TEST_CASE("readers that take their time keep no more snapshots than so many", "[exporters.pages]") {
  Fixture f;
  f.publish(1, 3);
  std::vector<HttpResponse> slow;
  for (long n = 0; n < Pages::kMostAtOnce; ++n) {
    slow.push_back(f.get(n % 2 ? "/metrics/qps" : "/api/v1/qps"));
    REQUIRE(slow.back().status == 200);
    REQUIRE_FALSE(slow.back().pieces().empty());
  }
  CHECK(f.get("/metrics/qps").status == 503);
  CHECK_THAT(whole(f.get("/api/v1/qps")), Contains("\"not_ready\""));
  CHECK(f.get("/metrics").status == 200);
  CHECK(f.get("/api/v1/qps", HttpPeer::on_socket).status == 200);
  slow.pop_back();
  CHECK(f.get("/metrics/qps").status == 200);
}
