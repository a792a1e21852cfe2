// SPDX-License-Identifier: Apache-2.0
#include "exporters/api/api.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "core/text.h"
#include "exporters/api/qp_query.h"
#include "store.h"
#include "support/fake_clock.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;
using Catch::Contains;
using nlohmann::json;

namespace {

const Gid kPeer = *parse_gid("0000:0000:0000:0000:0000:ffff:c000:0207");

std::string whole(const HttpResponse& response) {
  if (!response.pieces) return *response.body;
  std::string out;
  for (std::string piece; !(piece = response.pieces()).empty();) out += piece;
  return out;
}

struct Fixture {
  SnapshotStore store;
  std::function<Result<std::string>(const FocusRequest&)> focus;
  std::function<Result<std::string>(const ProbesRequest&)> probes;
  std::uint64_t sequence = 0;

  void publish(std::vector<QpRecord> records) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->sequence = ++sequence;
    snapshot->at = {5 * kSecond};
    std::ranges::sort(records, {}, &QpRecord::key);
    snapshot->queue_pairs = std::make_shared<const std::vector<QpRecord>>(std::move(records));
    snapshot->tenants = std::make_shared<const std::vector<Tenant>>(
        std::vector<Tenant>{{"unknown", "unknown"}, {"lab-a", "train"}, {"lab-b", "train"}, {"lab\x1b", "infer"}});
    snapshot->devices = std::make_shared<const std::map<DeviceIndex, std::string>>(std::map<DeviceIndex, std::string>{{kDev, "mlx5_0"}, {kOtherDev, "mlx5_1"}});
    store.publish(std::move(snapshot));
  }
  Api api() {
    return Api(store, {.wall_minus_boot = [] { return 1000.0; }, .now = [] { return BootTime{5 * kSecond + kSecond / 4}; }, .actions = {.focus = focus, .probes = probes}});
  }
  json get(std::string_view query, unsigned status = 200) {
    const Api served = api();
    const auto response = served.queue_pairs({.path = "/api/v1/qps", .query = query});
    INFO(query);
    CHECK(response.status == status);
    CHECK(response.content_type == "application/json");
    return json::parse(whole(response));
  }
  json post(std::string_view body, unsigned status) {
    const Api served = api();
    const auto response = served.focus({.method = "POST", .path = "/api/v1/focus", .body = body});
    INFO(body);
    CHECK(response.status == status);
    return json::parse(whole(response));
  }
  std::vector<std::uint32_t> numbers(std::string_view query) {
    std::vector<std::uint32_t> out;
    const json answer = get(query);
    for (const json& qp : answer["data"]["qps"]) out.push_back(qp["qpn"].get<std::uint32_t>());
    return out;
  }
};

using Numbers = std::vector<std::uint32_t>;

QpRecord plain(std::uint32_t n) { return {.key = {kDev, {n}}, .qpn = {n}, .port = {1}}; }

// Four that differ in everything that can be asked for.
std::vector<QpRecord> four() {
  return {
      {.key = {kDev, {1}}, .qpn = {11}, .state = QpState::rts, .port = {1}, .owner = owner_of_thread(4001), .tenant = 1, .attributed = true, .remote_gid = kPeer},
      {.key = {kDev, {2}}, .qpn = {12}, .type = QpType::ud, .state = QpState::err, .port = {2}, .owner = owner_of_thread(4002), .tenant = 2, .attributed = true},
      {.key = {kOtherDev, {3}}, .qpn = {11}, .state = QpState::rts, .port = {1}, .owner = owner_of_thread(4002), .tenant = 3, .attributed = true, .remote_gid = Gid{}},
      {.key = {kOtherDev, {kSeeded | 4}}, .qpn = {14}, .type = QpType::gsi},  // of which next to nothing is known
  };
}

}  // namespace

TEST_CASE("the envelope", "[exporters.api]") {
  Fixture f;
  CHECK(f.get("", 503)["error"] == json{{"code", "not_ready"}, {"message", "starting"}});
  f.publish({});
  CHECK(f.get("") == json{{"schema", 1}, {"time", 1005.0}, {"age_seconds", 0.25}, {"data", {{"qps", json::array()}}}});
}

TEST_CASE("every field that is known, and no other", "[exporters.api]") {
  Fixture f;
  Owner owner = *owner_of_thread(4001);
  owner.tid = {4007};
  owner.comm = std::string("a\xff\n\"b");
  owner.cgroup_path = "/slurm/job_7";
  owner.uid = 0;
  owner.k8s_pod = "pod";
  owner.k8s_container = "box";
  f.publish({{.key = {kDev, {~std::uint64_t{0} >> 1}}, .qpn = {0xffffff}, .type = QpType::rc, .state = QpState::rts, .port = {1}, .from_bpf = true,
              .generation = std::uint64_t{1} << 60, .owner = std::make_shared<const Owner>(owner), .tenant = 3, .attributed = true, .remote_qpn = Qpn{7},
              .local_gid = Gid{}, .remote_gid = kPeer, .remote_lid = 0, .traffic_class = 106, .path_mtu = 4096, .timeout = 14, .retry_cnt = 7, .rnr_retry = 6,
              .created = BootTime{kSecond}, .changed = {2 * kSecond}},
             {.key = {kOtherDev, {kSeeded | 1}}, .qpn = {0}, .type = QpType::smi, .tracked = false, .seeded = true, .changed = {3 * kSecond}}});
  const json all = f.get("")["data"]["qps"];
  REQUIRE(all.size() == 2);
  CHECK(all[0] == json{{"device", "mlx5_0"}, {"port", 1}, {"qpn", 16777215}, {"generation", "1152921504606846976"}, {"type", "RC"}, {"state", "RTS"},
                       {"tenant", "lab\\x1b"}, {"workload", "infer"}, {"pid", 4001}, {"tid", 4007}, {"uid", 0}, {"comm", "a\\xff\\x0a\"b"},
                       {"cgroup", "/slurm/job_7"}, {"k8s_pod", "pod"}, {"k8s_container", "box"}, {"remote_qpn", 7},
                       {"local_gid", "0000:0000:0000:0000:0000:0000:0000:0000"}, {"remote_gid", "0000:0000:0000:0000:0000:ffff:c000:0207"},
                       {"remote_lid", 0}, {"traffic_class", 106}, {"path_mtu", 4096}, {"timeout", 14}, {"retry_cnt", 7}, {"rnr_retry", 6},
                       {"created_timestamp_seconds", 1001.0}, {"state_change_timestamp_seconds", 1002.0}, {"source", "bpf"},
                       {"serial", "9223372036854775807"}, {"older_than_daemon", false}, {"in_netlink", true}});
  CHECK(all[1] == json{{"device", "mlx5_1"}, {"qpn", 0}, {"generation", "0"}, {"type", "SMI"}, {"state_change_timestamp_seconds", 1003.0}, {"source", "netlink"},
                       {"serial", "9223372036854775809"}, {"older_than_daemon", true}, {"in_netlink", false}});
}

TEST_CASE("a kernel module's queue pair", "[exporters.api]") {
  Fixture f;
  Owner owner;
  owner.known = true;
  owner.kern_name = "nvme_rdma";
  QpRecord qp = plain(1);
  qp.owner = std::make_shared<const Owner>(owner);
  f.publish({qp});
  const json shown = f.get("")["data"]["qps"][0];
  CHECK(shown["kernel_module"] == "nvme_rdma");
  CHECK_FALSE(shown.contains("pid"));
  CHECK(f.numbers("pid=0").empty());
}

TEST_CASE("filters", "[exporters.api]") {
  Fixture f;
  f.publish(four());
  CHECK(f.numbers("") == Numbers{11, 12, 11, 14});
  CHECK(f.numbers("device=mlx5_0") == Numbers{11, 12});
  CHECK(f.numbers("device=mlx5_0&device=mlx5_1") == Numbers{11, 12, 11, 14});
  CHECK(f.numbers("device=mlx5_2").empty());
  CHECK(f.numbers("device=mlx5").empty());
  CHECK(f.numbers("port=1") == Numbers{11, 11});
  CHECK(f.numbers("port=0") == Numbers{14});
  CHECK(f.numbers("qpn=11") == Numbers{11, 11});
  CHECK(f.numbers("qpn=12&qpn=14&qpn=99") == Numbers{12, 14});
  CHECK(f.numbers("type=UD&type=GSI") == Numbers{12, 14});
  CHECK(f.numbers("state=RTS") == Numbers{11, 11});
  CHECK(f.numbers("state=ERR&state=RESET") == Numbers{12});
  CHECK(f.numbers("tenant=lab-a") == Numbers{11});
  CHECK(f.numbers("tenant=lab%5cx1b") == Numbers{11});  // as it is shown
  CHECK(f.numbers("tenant=lab%1b").empty());
  CHECK(f.numbers("tenant=unknown").empty());           // not yet known is not unknown
  CHECK(f.numbers("workload=train") == Numbers{11, 12});
  CHECK(f.numbers("workload=train&tenant=lab-b") == Numbers{12});
  CHECK(f.numbers("workload=infer&tenant=lab-b").empty());
  CHECK(f.numbers("remote_gid=::ffff:192.0.2.7") == Numbers{11});
  CHECK(f.numbers("remote_gid=0000:0000:0000:0000:0000:ffff:c000:0207&remote_gid=::") == Numbers{11, 11});
  CHECK(f.numbers("pid=4002") == Numbers{12, 11});
  CHECK(f.numbers("pid=4002&device=mlx5_0&state=ERR&port=2&type=UD&qpn=12&tenant=lab-b&workload=train") == Numbers{12});
}

TEST_CASE("a parameter that cannot be is named", "[exporters.api]") {
  Fixture f;
  f.publish(four());
  for (const auto& [query, word] : std::initializer_list<std::pair<const char*, const char*>>{
           {"colour=red", "colour"}, {"Device=mlx5_0", "Device"}, {"=", "unknown parameter"}, {"device", "device"}, {"device=", "device"}, {"tenant=", "tenant"},
           {"workload=", "workload"}, {"port=x", "port"}, {"port=-1", "port"}, {"port=+1", "port"}, {"port=1%20", "port"}, {"port=4294967296", "port"},
           {"port=", "port"}, {"qpn=0x11", "qpn"}, {"qpn=1.0", "qpn"}, {"pid=a", "pid"}, {"type=rc", "type"}, {"type=", "type"}, {"state=rts", "state"},
           {"state=3", "state"}, {"remote_gid=192.0.2.7", "remote_gid"}, {"remote_gid=::1%00", "remote_gid"}, {"remote_gid=::1/128", "remote_gid"},
           {"limit=0", "limit"}, {"limit=10001", "limit"}, {"limit=", "limit"}, {"limit=-1", "limit"}, {"limit=99999999999999999999", "limit"},
           {"limit=1&limit=1", "limit"}, {"qpn=%", "qpn"}, {"a%1b%0ab=c", "\\x1b\\x0a"},
       }) {
    const json answer = f.get(query, 400);
    CHECK(answer["error"]["code"] == "invalid");
    CHECK_THAT(answer["error"]["message"].get<std::string>(), Contains(word));
  }
}

TEST_CASE("a cursor is a position and nothing else", "[exporters.api]") {
  for (const QpKey key : {QpKey{}, QpKey{kDev, {1}}, QpKey{{~0U}, {~std::uint64_t{0}}}, QpKey{kOtherDev, {kSeeded | 7}}}) {
    CHECK(parse_cursor(cursor_text(key)) == key);
  }
  Fixture f;
  f.publish(four());
  const std::string good = cursor_text({kDev, {1}});
  CHECK(f.numbers("cursor=" + good) == Numbers{12, 11, 14});
  CHECK(f.numbers("cursor=" + cursor_text({{0}, {0}})) == Numbers{11, 12, 11, 14});
  CHECK(f.numbers("cursor=" + cursor_text({{~0U}, {~std::uint64_t{0}}})).empty());
  std::vector<std::string> bad{"", "1", "next", good + "0", good.substr(1), " " + good.substr(1), "2" + good.substr(1), good + "&cursor=" + good};
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char c : {'g', 'A', '-', '+', 'x'}) {
      if (std::string changed = good; changed[i] != c) bad.push_back((changed[i] = c, changed));
    }
  }
  for (std::string one : bad) {
    if (const auto plus = one.find('+'); plus != std::string::npos) one.replace(plus, 1, "%2B");
    CHECK_THAT(f.get("cursor=" + one, 400)["error"]["message"].get<std::string>(), Contains("cursor"));
  }
}

TEST_CASE("pages end where they should", "[exporters.api]") {
  Fixture f;
  f.publish(four());
  const auto page = [&](const std::string& query) { return f.get(query)["data"]; };
  CHECK_FALSE(page("limit=4").contains("next"));
  CHECK(page("limit=3")["next"] == cursor_text({kOtherDev, {3}}));
  CHECK_FALSE(page("limit=1&qpn=12").contains("next"));                             // what follows does not match
  CHECK(page("limit=1&port=1")["next"] == cursor_text({kDev, {1}}));
  std::vector<QpRecord> many;
  for (std::uint32_t n = 1; n <= 1500; ++n) many.push_back(plain(n));
  f.publish(many);
  CHECK(page("")["qps"].size() == QpQuery::kUsualLimit);
  CHECK(page("")["next"] == cursor_text({kDev, {1000}}));
  CHECK(page("cursor=" + cursor_text({kDev, {1000}}))["qps"].size() == 500);
}

TEST_CASE("paging while queue pairs come and go: those that stay are seen once", "[exporters.api]") {
  Fixture f;
  std::set<std::uint32_t> alive;
  for (std::uint32_t n = 10; n <= 1000; n += 10) alive.insert(n);  // these stay
  std::uint32_t chance = 1;
  const auto random = [&chance](std::uint32_t below) { return (chance = chance * 1664525 + 1013904223) >> 8 & 0xffff ? (chance >> 8) % below : 0; };
  std::multiset<std::uint32_t> seen;
  std::string cursor;
  do {
    for (int i = 0; i < 200; ++i) {  // the others come and go
      const std::uint32_t n = 1 + random(1000);
      if (n % 10 != 0 && !alive.erase(n)) alive.insert(n);
    }
    std::vector<QpRecord> records;
    for (const std::uint32_t n : alive) records.push_back(plain(n));
    f.publish(std::move(records));
    const json data = f.get("limit=37" + (cursor.empty() ? "" : "&cursor=" + cursor))["data"];
    for (const json& qp : data["qps"]) seen.insert(qp["qpn"].get<std::uint32_t>());
    cursor = data.value("next", "");
  } while (!cursor.empty());
  for (std::uint32_t n = 10; n <= 1000; n += 10) CHECK(seen.count(n) == 1);
  for (const std::uint32_t n : seen) CHECK(seen.count(n) == 1);
}

TEST_CASE("a page of very many is never in memory as a whole", "[exporters.api]") {
  Fixture f;
  std::vector<QpRecord> many;
  for (std::uint32_t n = 1; n <= 65536; ++n) many.push_back(plain(n));
  f.publish(std::move(many));
  const Api api = f.api();
  const auto response = api.queue_pairs({.path = "/api/v1/qps", .query = "limit=10000"});
  f.publish({});  // the page goes on with what it began
  std::size_t most = 0, all = 0;
  for (std::string piece; !(piece = response.pieces()).empty(); all += piece.size()) most = std::max(most, piece.size());
  CHECK(all > 1'000'000);
  CHECK(most < 100'000);
}

TEST_CASE("focus: what is asked for", "[exporters.api]") {
  Fixture f;
  FocusRequest asked;
  f.focus = [&](const FocusRequest& request) -> Result<std::string> {
    asked = request;
    return "focus\x1b on";
  };
  f.publish({});
  CHECK(f.post(R"({"device": "mlx5_0", "qpn": 123, "seconds": 90})", 200)["data"]["message"] == "focus\\x1b on");
  CHECK((asked.device == "mlx5_0" && asked.qpn.value == 123 && asked.seconds == 90));
  f.post(R"({"device": "mlx5_1", "qpn": 0})", 200);
  CHECK((asked.device == "mlx5_1" && asked.qpn.value == 0 && asked.seconds == 60));
  for (const auto& [body, word] : std::initializer_list<std::pair<std::string, const char*>>{
           {"", "no JSON object"}, {"[]", "no JSON object"}, {"{", "no JSON object"}, {"\xff", "no JSON object"}, {"{}", "device is missing"}, {R"({"device":"a"})", "qpn is missing"},
           {R"({"device":"","qpn":1})", "device"}, {R"({"device":1,"qpn":1})", "device"}, {R"({"device":"a","qpn":-1})", "qpn"}, {R"({"device":"a","qpn":1.5})", "qpn"},
           {R"({"device":"a","qpn":"1"})", "qpn"}, {R"({"device":"a","qpn":16777216})", "qpn"}, {R"({"device":"a","qpn":1,"seconds":0})", "seconds"},
           {R"({"device":"a","qpn":1,"seconds":3601})", "seconds"}, {R"({"device":"a","qpn":1,"secs":1})", "secs"}, {std::string(kMostBodyBytes, '['), "no JSON object"},
       }) {
    CHECK_THAT(f.post(body, 400)["error"]["message"].get<std::string>(), Contains(word));
  }
}

TEST_CASE("probes off and on: what is asked for", "[exporters.api]") {
  Fixture f;
  f.publish({});
  const auto post = [&](const std::string& body, unsigned status) {
    const auto response = f.api().set_probes({.method = "POST", .path = "/api/v1/probes", .body = body});
    CHECK(response.status == status);
    return nlohmann::json::parse(*response.body);
  };
  CHECK(post(R"({"attached": false})", 501)["error"]["code"] == "unsupported");
  ProbesRequest asked;
  f.probes = [&](const ProbesRequest& request) -> Result<std::string> {
    asked = request;
    return "off";
  };
  CHECK(post(R"({"attached": false})", 200)["data"]["message"] == "off");
  CHECK((!asked.attached && asked.seconds == 900));
  post(R"({"attached": false, "seconds": 86400})", 200);
  CHECK(asked.seconds == 86400);
  post(R"({"attached": true})", 200);
  CHECK(asked.attached);
  for (const auto& [body, word] : std::initializer_list<std::pair<std::string, const char*>>{
           {"", "no JSON object"}, {"[]", "no JSON object"}, {"{}", "attached is missing"}, {R"({"attached":0})", "attached"}, {R"({"attached":false,"seconds":0})", "seconds"},
           {R"({"attached":false,"seconds":86401})", "seconds"}, {R"({"attached":false,"secs":1})", "secs"}}) {
    CHECK_THAT(post(body, 400)["error"]["message"].get<std::string>(), Contains(word));
  }
}

TEST_CASE("focus: an error's status, and a daemon that cannot", "[exporters.api]") {
  Fixture f;
  f.publish({});
  const std::string body = R"({"device": "mlx5_0", "qpn": 123})";
  CHECK(f.post(body, 501)["error"]["code"] == "unsupported");
  for (const auto& [code, status] : std::initializer_list<std::pair<ErrorCode, unsigned>>{{ErrorCode::invalid, 400}, {ErrorCode::not_found, 404},
           {ErrorCode::permission, 403}, {ErrorCode::unsupported, 501}, {ErrorCode::limit, 429}, {ErrorCode::io, 500}}) {
    f.focus = [code](const FocusRequest&) -> Result<std::string> { return fail(code, "why \x1b not"); };
    CHECK(f.post(body, status)["error"]["message"] == "why \\x1b not");
  }
}
