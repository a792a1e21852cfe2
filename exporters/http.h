// SPDX-License-Identifier: Apache-2.0
// The HTTP server: GET and HEAD, IPv4 and IPv6, bounded connections. The only user of libmicrohttpd and zlib.
// It knows nothing of metrics: a handler answers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace qpscope {

struct HttpRequest {
  std::string_view path;
  bool local = false;  // the peer is in the allow list (loopback by default)
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body;
  // Instead of a body: pieces until one is empty. Called on the server's thread, one request at a time.
  std::function<std::string()> pieces;
};

struct HttpOptions {
  std::string listen = ":9879";     // "host:port", "[v6]:port" or ":port" for every address; port 0: any free one
  std::vector<std::string> allow;   // CIDR list: peers for whom HttpRequest::local is true
};

class HttpServer {
 public:
  using Handler = std::function<HttpResponse(const HttpRequest&)>;  // called from the server's threads

  // Errors: a listen address that cannot be parsed (invalid), a port in use or not permitted (io, permission).
  static Result<std::unique_ptr<HttpServer>> start(const HttpOptions& options, Handler handler);
  ~HttpServer();
  std::uint16_t port() const;  // the one really bound
  int listen_descriptor() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace qpscope
