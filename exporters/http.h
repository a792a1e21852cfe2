// SPDX-License-Identifier: Apache-2.0
// The HTTP server: IPv4, IPv6 and a unix socket, bounded connections and bodies. The only user of libmicrohttpd and zlib.
// It knows nothing of metrics and paths: a handler answers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace qpscope {

inline constexpr std::size_t kMostBodyBytes = 64U << 10;  // of a request

// Who asks.
enum class HttpPeer : std::uint8_t {
  stranger,   // by TCP, from an address that is not in the allow list
  misnamed,   // allowed, but the Host header names another machine than this one (host_names.h)
  allowed,
  on_socket,  // by the unix socket, which file permissions guard
};

struct HttpRequest {
  std::string_view method = "GET";  // HEAD comes as GET: the server leaves the body out
  std::string_view path;            // decoded
  std::string_view query;           // behind the "?", as it came
  HttpPeer peer = HttpPeer::stranger;
  std::string_view body;
  bool oversized = false;           // a body of more than kMostBodyBytes is announced; it was not read
  std::string_view accept;          // the Accept header; empty: none
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body;
  // Instead of a body: pieces until one is empty. Called on the server's thread, one request at a time.
  std::function<std::string()> pieces;
  std::string allow;  // with status 405: the methods that the path has
  std::vector<std::pair<const char*, std::string>> headers;  // more of them
};

struct HttpOptions {
  std::string listen = ":9879";     // "host:port", "[v6]:port" or ":port" for every address; port 0: any free one
  std::vector<std::string> allow;   // CIDR list: peers that may be HttpPeer::allowed
  std::vector<std::string> hosts;   // names of this machine in a Host header, beside its own, localhost and every address
};

class HttpServer {
 public:
  using Handler = std::function<HttpResponse(const HttpRequest&)>;  // called from the server's threads

  // Errors: a listen address that cannot be parsed (invalid), a port in use or not permitted (io, permission).
  static Result<std::unique_ptr<HttpServer>> start(const HttpOptions& options, Handler handler);
  // The same on a listening unix socket, which is ours from then on, also when this fails. Once.
  Result<> serve_socket(int listening);
  ~HttpServer();
  std::uint16_t port() const;  // the one really bound
  std::vector<int> listen_descriptors() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace qpscope
