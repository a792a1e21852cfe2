// SPDX-License-Identifier: Apache-2.0
// One HTTP request over a plain socket, of TCP or unix, to a server on this machine: enough to see what the server really sends.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

namespace qpscope::test {

struct HttpReply {
  int status = 0;
  std::string headers;  // in lower case
  std::string body;     // chunks put together
  bool has(const std::string& line) const { return headers.find(line) != std::string::npos; }
};

class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port) {
    auto& to = reinterpret_cast<sockaddr_in&>(address_);
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    size_ = sizeof to;
  }
  explicit HttpClient(const std::string& path) {
    auto& to = reinterpret_cast<sockaddr_un&>(address_);
    to.sun_family = AF_UNIX;
    path.copy(to.sun_path, sizeof to.sun_path - 1);
    size_ = sizeof to;
  }

  // The request line and headers as given.
  HttpReply request(const std::string& head, const std::string& body = {}) const { return parse(exchange(head + "\r\n" + body)); }
  HttpReply send(const std::string& method, const std::string& path, const std::string& more_headers = {},
                 const std::string& body = {}) const {
    return request(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + more_headers, body);
  }
  HttpReply get(const std::string& path, const std::string& more_headers = {}) const { return send("GET", path, more_headers); }

 private:
  std::string exchange(const std::string& request) const {
    const int fd = socket(address_.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience{10, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    std::string reply;
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address_), size_) == 0 &&
        ::send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
      char part[16384];
      for (ssize_t n; (n = recv(fd, part, sizeof part, 0)) > 0;) reply.append(part, static_cast<std::size_t>(n));
    }
    close(fd);
    return reply;
  }
  static HttpReply parse(const std::string& raw) {
    const auto end = raw.find("\r\n\r\n");
    if (end == std::string::npos || !raw.starts_with("HTTP/1.1 ")) throw std::runtime_error("no HTTP answer: " + raw.substr(0, 80));
    HttpReply reply;
    reply.status = std::atoi(raw.c_str() + 9);
    for (const char c : raw.substr(0, end + 2)) reply.headers += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    reply.body = raw.substr(end + 4);
    if (reply.has("transfer-encoding: chunked") && !reply.body.empty()) reply.body = unchunk(reply.body);
    return reply;
  }
  static std::string unchunk(const std::string& raw) {
    std::string out;
    for (std::size_t at = 0;;) {
      const std::size_t size = std::strtoul(raw.c_str() + at, nullptr, 16);
      at = raw.find("\r\n", at);
      if (at == std::string::npos) throw std::runtime_error("chunks cut off");
      if (size == 0) return out;
      out += raw.substr(at + 2, size);
      at += size + 4;
    }
  }

  sockaddr_storage address_{};
  socklen_t size_ = 0;
};

inline std::string gunzip(std::string compressed) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) throw std::runtime_error("inflateInit2");
  std::string out(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_in = static_cast<uInt>(compressed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = inflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("no gzip");
  return out;
}

}  // namespace qpscope::test
