// SPDX-License-Identifier: Apache-2.0
#include "exporters/http.h"

#include <sys/un.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "unit/collectors/host/temp_tree.h"
#include "support/http_client.h"

using namespace qpscope;
using qpscope::test::gunzip;
using qpscope::test::HttpClient;
using qpscope::test::TempTree;

namespace {

const std::string kLong(300'000, 'x');

const char* who(HttpPeer peer) {
  switch (peer) {
    case HttpPeer::stranger: return "stranger";
    case HttpPeer::misnamed: return "misnamed";
    case HttpPeer::allowed: return "allowed";
    case HttpPeer::on_socket: return "on socket";
  }
  return "?";
}

HttpResponse handler(const HttpRequest& request) {
  const auto body = [](std::string text) { return std::make_shared<const std::string>(std::move(text)); };
  if (request.path == "/long") return {.content_type = "text/plain; version=0.0.4", .body = body(kLong)};
  if (request.path == "/who") return {.body = body(who(request.peer))};
  if (request.path == "/echo") {
    return {.body = body(std::string(request.method) + " " + std::string(request.query) + " " + std::to_string(request.body.size()) +
                         (request.oversized ? " oversized" : ""))};
  }
  if (request.path == "/405") return {.status = 405, .allow = "GET, HEAD"};
  if (request.path == "/none") return {};
  if (request.path == "/accept") return {.body = body(std::string(request.accept)), .headers = {{"Content-Security-Policy", "default-src 'none'"}, {"Vary", "Accept"}}};
  if (request.path == "/pieces") {
    return {.pieces = [n = 0]() mutable { return n == 5 ? std::string() : std::string(100'000, static_cast<char>('a' + n++)); }};
  }
  if (request.path == "/") return {.body = body("index")};
  return {.status = 404, .body = body("no such page")};
}

std::unique_ptr<HttpServer> start(std::vector<std::string> allow = {"127.0.0.0/8"}) {
  auto server = HttpServer::start({.listen = "127.0.0.1:0", .allow = std::move(allow)}, handler);
  REQUIRE(server);
  return std::move(*server);
}

}  // namespace

TEST_CASE("GET and HEAD", "[exporters.http]") {
  const auto server = start();
  CHECK(server->port() != 0);
  const HttpClient client(server->port());
  const auto page = client.get("/long");
  CHECK(page.status == 200);
  CHECK(page.has("content-type: text/plain; version=0.0.4\r\n"));
  CHECK(page.has("x-content-type-options: nosniff\r\n"));
  CHECK(page.has("content-length: 300000\r\n"));
  CHECK_FALSE(page.has("content-encoding"));
  CHECK(page.body == kLong);
  const auto head = client.send("HEAD", "/long");
  CHECK(head.status == 200);
  CHECK(head.has("content-length: 300000\r\n"));
  CHECK(head.body.empty());
  const auto refused = client.send("BREW", "/405");
  CHECK(refused.status == 405);
  CHECK(refused.has("allow: get, head\r\n"));
  CHECK(client.get("/nowhere").status == 404);
  CHECK(client.get("/none").body.empty());
  CHECK(client.get("/?a=b").body == "index");
}

TEST_CASE("gzip for those who take it", "[exporters.http]") {
  const auto server = start();
  const HttpClient client(server->port());
  for (const char* yes : {"gzip", "deflate, gzip", "gzip;q=0.5", "br;q=1.0, gzip; q=0.8", "gzip;q=1"}) {
    INFO(yes);
    const auto page = client.get("/long", std::string("Accept-Encoding: ") + yes + "\r\n");
    CHECK(page.has("content-encoding: gzip\r\n"));
    CHECK(page.has("vary: accept-encoding\r\n"));
    CHECK(page.body.size() < 10'000);
    CHECK(gunzip(page.body) == kLong);
  }
  for (const char* no : {"identity", "gzip;q=0", "gzip; q=0.0", "deflate", "notgzip"}) {
    INFO(no);
    const auto page = client.get("/long", std::string("Accept-Encoding: ") + no + "\r\n");
    CHECK_FALSE(page.has("content-encoding"));
    CHECK(page.body == kLong);
  }
}

TEST_CASE("a page in pieces", "[exporters.http]") {
  const auto server = start();
  const HttpClient client(server->port());
  const auto page = client.get("/pieces");
  CHECK(page.status == 200);
  CHECK(page.has("transfer-encoding: chunked"));
  std::string expected;
  for (char c = 'a'; c < 'f'; ++c) expected += std::string(100'000, c);
  CHECK(page.body == expected);
  CHECK(client.send("HEAD", "/pieces").body.empty());
}

TEST_CASE("method, query and body reach the handler as they came", "[exporters.http]") {
  const auto server = start();
  const HttpClient client(server->port());
  CHECK(client.get("/echo?a=%41&b=c+d").body == "GET a=%41&b=c+d 0");
  CHECK(client.get("/echo?").body == "GET  0");
  CHECK(client.send("BREW", "/echo").body == "BREW  0");
  CHECK(client.send("POST", "/echo?x", "Content-Length: 5\r\n", "hello").body == "POST x 5");
  CHECK(client.send("POST", "/echo", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n").body == "POST  5");
  CHECK(client.send("HEAD", "/echo").has("content-length: 6\r\n"));  // it is a GET
}

TEST_CASE("the Accept header comes in, a handler's own headers go out", "[exporters.http]") {
  const auto server = start();
  const HttpClient client(server->port());
  const auto reply = client.get("/accept", "Accept: text/html, */*;q=0.8\r\n");
  CHECK(reply.body == "text/html, */*;q=0.8");
  for (const char* line : {"content-security-policy: default-src 'none'\r\n", "vary: accept\r\n", "vary: accept-encoding\r\n"}) CHECK(reply.has(line));
  CHECK(client.get("/accept").body.empty());
}

TEST_CASE("a body has a bound", "[exporters.http]") {
  const auto server = start();
  const HttpClient client(server->port());
  const auto length = [](std::size_t n) { return "Content-Length: " + std::to_string(n) + "\r\n"; };
  CHECK(client.send("POST", "/echo", length(kMostBodyBytes), std::string(kMostBodyBytes, 'x')).body == "POST  " + std::to_string(kMostBodyBytes));
  CHECK(client.send("POST", "/echo", length(kMostBodyBytes + 1)).body == "POST  0 oversized");  // before it is sent
  CHECK(client.send("POST", "/echo", "Content-Length: 18446744073709551615\r\n").body != "POST  0");
  CHECK_THROWS(client.send("POST", "/echo", "Transfer-Encoding: chunked\r\n", "11000\r\n" + std::string(0x11000, 'x') + "\r\n0\r\n\r\n"));  // no answer
  CHECK(client.get("/echo").status == 200);
}

TEST_CASE("who may is a matter of the list", "[exporters.http]") {
  CHECK(HttpClient(start({"127.0.0.0/8"})->port()).get("/who").body == "allowed");
  CHECK(HttpClient(start({"10.0.0.0/8", "127.0.0.1"})->port()).get("/who").body == "allowed");
  CHECK(HttpClient(start({"10.0.0.0/8", "::1/128"})->port()).get("/who").body == "stranger");
  CHECK(HttpClient(start({})->port()).get("/who").body == "stranger");
}

TEST_CASE("on every address, an IPv4 peer matches an IPv4 range", "[exporters.http]") {
  auto server = HttpServer::start({.listen = ":0", .allow = {"127.0.0.0/8"}}, handler);
  REQUIRE(server);
  CHECK(HttpClient((*server)->port()).get("/who").body == "allowed");
}

TEST_CASE("an allowed peer has to mean this machine", "[exporters.http]") {
  auto server = HttpServer::start({.listen = "127.0.0.1:0", .allow = {"127.0.0.0/8"}, .hosts = {"node7"}}, handler);
  REQUIRE(server);
  const HttpClient client((*server)->port());
  const auto as = [&](const std::string& head) { return client.request("GET /who HTTP/1." + head + "\r\n").body; };
  CHECK(as("1\r\nHost: node7:9879\r\nConnection: close\r\n") == "allowed");
  CHECK(as("1\r\nHost: 192.0.2.7\r\nConnection: close\r\n") == "allowed");
  CHECK(as("0\r\n") == "allowed");
  CHECK(as("1\r\nHost: evil.example\r\nConnection: close\r\n") == "misnamed");
  CHECK(as("0\r\nHost: evil.example\r\n") == "misnamed");
  CHECK(as("1\r\nHost:\r\nConnection: close\r\n") == "misnamed");
  CHECK(as("1\r\nConnection: close\r\n") != "allowed");
  CHECK(as("1\r\nHost: node7\r\nHost: evil.example\r\nConnection: close\r\n") != "allowed");
  CHECK(as("1\r\nHost: evil.example\r\nHost: node7\r\nConnection: close\r\n") != "allowed");
  CHECK(HttpClient(start({})->port()).get("/who", "Host: evil.example\r\n").body == "stranger");
  std::array<char, 256> own{};
  REQUIRE(gethostname(own.data(), own.size() - 1) == 0);
  CHECK(as("1\r\nHost: " + std::string(own.data()) + "\r\nConnection: close\r\n") == "allowed");
}

TEST_CASE("on a unix socket too, whatever the Host header", "[exporters.http]") {
  const TempTree folder;
  const auto server = start({});
  CHECK(server->listen_descriptors().size() == 1);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = folder.path() + "/s";
  REQUIRE(path.size() < sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  const int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  REQUIRE(bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(listen(listening, 8) == 0);
  REQUIRE(server->serve_socket(listening));
  CHECK(server->listen_descriptors().size() == 2);
  const HttpClient client(path);
  CHECK(client.get("/who").body == "on socket");
  CHECK(client.get("/who", "X: y\r\nHost: evil.example\r\n").body == "on socket");
  CHECK(client.get("/long").body == kLong);
  CHECK(HttpClient(server->port()).get("/who").body == "stranger");
}

TEST_CASE("many at once", "[exporters.http]") {
  const auto server = start();
  std::atomic<int> good = 0;
  std::vector<std::thread> scrapers;
  for (int i = 0; i < 8; ++i) {
    scrapers.emplace_back([&, i] {
      const HttpClient client(server->port());
      for (int k = 0; k < 10; ++k) {
        try {
          if (i % 2) {
            good += gunzip(client.get("/long", "Accept-Encoding: gzip\r\n").body) == kLong;
          } else {
            good += client.get("/pieces").body.size() == 500'000;
          }
        } catch (const std::exception&) {
        }
      }
    });
  }
  for (std::thread& one : scrapers) one.join();
  CHECK(good == 80);
}

TEST_CASE("an occupied port is told as such", "[exporters.http]") {
  const auto server = start();
  const std::string listen = "127.0.0.1:" + std::to_string(server->port());
  const auto second = HttpServer::start({.listen = listen, .allow = {}}, handler);
  REQUIRE_FALSE(second);
  CHECK_THAT(second.error().what, Catch::Contains(listen) && Catch::Contains("another process has this port"));
}

TEST_CASE("a stopped server gives its port back", "[exporters.http]") {
  auto server = start();
  const std::string listen = "127.0.0.1:" + std::to_string(server->port());
  server.reset();
  CHECK(HttpServer::start({.listen = listen, .allow = {}}, handler));
}

TEST_CASE("listen addresses that cannot be", "[exporters.http]") {
  for (const char* bad : {"", ":", "localhost:", ":70000", ":-1", ":http", "127.0.0.1:99x", "no.such.name:0", "[::1]", "300.1.1.1:0"}) {
    INFO(bad);
    const auto server = HttpServer::start({.listen = bad, .allow = {}}, handler);
    REQUIRE_FALSE(server);
    CHECK(server.error().code == ErrorCode::invalid);
    CHECK_THAT(server.error().what, Catch::Contains("write :9879"));
  }
  const auto foreign = HttpServer::start({.listen = "192.0.2.1:0", .allow = {}}, handler);
  REQUIRE_FALSE(foreign);
  CHECK_THAT(foreign.error().what, Catch::Contains("no such address"));
  const auto host = HttpServer::start({.listen = "127.0.0.1:0", .allow = {}, .hosts = {"http://node7"}}, handler);
  REQUIRE_FALSE(host);
  CHECK_THAT(host.error().what, Catch::Contains("api.hosts"));
  const auto range = HttpServer::start({.listen = "127.0.0.1:0", .allow = {"10.0.0.0/33"}}, handler);
  REQUIRE_FALSE(range);
  CHECK_THAT(range.error().what, Catch::Contains("10.0.0.0/33"));
}
