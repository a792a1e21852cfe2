// SPDX-License-Identifier: Apache-2.0
#include "exporters/http.h"

#include <libdeflate.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

#include "exporters/cidr.h"
#include "exporters/host_names.h"

namespace qpscope {
namespace {

constexpr unsigned kConnections = 64, kConnectionsPerPeer = 32, kSocketConnections = 16, kIdleSeconds = 10, kThreads = 2;
constexpr std::size_t kRequestBytes = 32U << 10;  // headers and all, per connection

using Socket = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<int> bind_socket(const addrinfo& address, const std::string& listen_on) {
  const int fd = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return std::unexpected(io_error("cannot make a socket for " + listen_on, errno));
  const int on = 1, off = 0;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (bind(fd, address.ai_addr, address.ai_addrlen) == 0 && ::listen(fd, SOMAXCONN) == 0) return fd;
  const int why = errno;
  close(fd);
  std::string what = "cannot listen on " + listen_on + " (exporters.prometheus.listen)";
  if (why == EADDRINUSE) what += ": another process has this port; stop it or choose another";
  if (why == EADDRNOTAVAIL) what += ": this host has no such address";
  return std::unexpected(io_error(std::move(what), why));
}

// "" as host: every address, IPv6 and IPv4 on one socket, or IPv4 alone where the kernel has no IPv6.
Result<int> listen_socket(const std::string& listen_on) {
  const auto colon = listen_on.rfind(':');
  std::string host = colon == std::string::npos ? std::string() : listen_on.substr(0, colon);
  const std::string port = colon == std::string::npos ? listen_on : listen_on.substr(colon + 1);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  const bool digits = !port.empty() && port.size() <= 5 && std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || std::stoul(port) > 65535) return fail(ErrorCode::invalid, "\"" + listen_on + "\" is no listen address; write :9879, 127.0.0.1:9879 or [::1]:9879");
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV | AI_NUMERICHOST;
  Result<int> last = fail(ErrorCode::invalid, "\"" + listen_on + "\" is no listen address; write :9879, 127.0.0.1:9879 or [::1]:9879");
  for (const int family : {AF_INET6, AF_INET}) {
    hints.ai_family = family;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found) != 0) continue;
    const Socket guard(found, &freeaddrinfo);
    last = bind_socket(*found, listen_on);
    if (last || last.error().sys_errno != EAFNOSUPPORT) return last;
  }
  return last;
}

std::string gzip(std::string_view body) {
  constexpr int kFastest = 1;
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(libdeflate_alloc_compressor(kFastest), &libdeflate_free_compressor);
  if (!compressor) throw std::bad_alloc();
  std::string out;
  out.resize_and_overwrite(libdeflate_gzip_compress_bound(compressor.get(), body.size()), [&](char* to, std::size_t room) {
    return libdeflate_gzip_compress(compressor.get(), body.data(), body.size(), to, room);
  });
  out.shrink_to_fit();  // a tenth of it
  return out;
}

// Accept-Encoding: names with an optional weight; a weight of 0 means no.
bool accepts_gzip(const char* header) {
  if (!header) return false;
  std::string text(header);
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t'; });
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    if (one.substr(0, one.find(';')) != "gzip") continue;
    const auto weight = one.find(";q=");
    return weight == std::string_view::npos || one.find_first_not_of("0.", weight + 3) != std::string_view::npos;
  }
  return false;
}

// What a response keeps alive until the last byte is sent.
struct Stream {
  std::function<std::string()> next;
  std::string piece;
  std::size_t sent = 0;
};

ssize_t read_stream(void* context, std::uint64_t, char* out, std::size_t room) {
  auto& stream = *static_cast<Stream*>(context);
  if (stream.sent == stream.piece.size()) {
    stream.piece = stream.next();
    stream.sent = 0;
    if (stream.piece.empty()) return MHD_CONTENT_READER_END_OF_STREAM;
  }
  const std::size_t n = std::min(room, stream.piece.size() - stream.sent);
  std::memcpy(out, stream.piece.data() + stream.sent, n);
  stream.sent += n;
  return static_cast<ssize_t>(n);
}

ssize_t read_body(void* context, std::uint64_t at, char* out, std::size_t room) {
  const std::string& body = **static_cast<std::shared_ptr<const std::string>*>(context);
  if (at >= body.size()) return MHD_CONTENT_READER_END_OF_STREAM;
  const std::size_t n = std::min(room, body.size() - at);
  std::memcpy(out, body.data() + at, n);
  return static_cast<ssize_t>(n);
}

MHD_Response* make_response(std::shared_ptr<const std::string> body) {
  const std::size_t size = body->size();
  auto* kept = new std::shared_ptr<const std::string>(std::move(body));
  return MHD_create_response_from_callback(size, 64U << 10, read_body, kept, [](void* p) { delete static_cast<std::shared_ptr<const std::string>*>(p); });
}

// What is known of a request until it is answered. Made with its first line, which is the only place that has the query as it came.
struct Incoming {
  std::string query, body;
  bool begun = false;
};

void* on_first_line(void*, const char* uri, MHD_Connection*) {
  const char* const mark = std::strchr(uri, '?');
  return new Incoming{.query = mark ? mark + 1 : ""};
}

void on_end(void*, MHD_Connection*, void** state, MHD_RequestTerminationCode) {
  delete static_cast<Incoming*>(*state);
  *state = nullptr;
}

// A body that is announced to be too long is not read. (Not a number: libmicrohttpd has refused it.)
bool announces_too_much(MHD_Connection* connection) {
  const char* const length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
  return length && std::strtoull(length, nullptr, 10) > kMostBodyBytes;
}

// Every Host header counts; none at all is for HTTP/1.0, which no browser speaks.
bool names_this_machine(MHD_Connection* connection, std::string_view version, const HostNames& names) {
  struct Seen {
    const HostNames& names;
    bool any = false, good = true;
  } seen{names};
  MHD_get_connection_values(
      connection, MHD_HEADER_KIND,
      [](void* context, MHD_ValueKind, const char* key, const char* value) {
        auto& out = *static_cast<Seen*>(context);
        if (strcasecmp(key, MHD_HTTP_HEADER_HOST) != 0) return MHD_YES;
        out.any = true;
        out.good = out.good && out.names.contains(value ? value : "");
        return MHD_YES;
      },
      &seen);
  return seen.any ? seen.good : version == MHD_HTTP_VERSION_1_0;
}

}  // namespace

class HttpServer::Impl {
 public:
  // A listening socket and its threads.
  struct Door {
    Impl& impl;
    bool socket = false;  // the unix socket
    MHD_Daemon* daemon = nullptr;
  };
  Handler handler;
  std::vector<Cidr> allow;
  HostNames names;
  Door tcp{*this}, socket{*this, true};

  ~Impl() {
    for (const Door* door : {&tcp, &socket}) {
      if (door->daemon) MHD_stop_daemon(door->daemon);
    }
  }

  // Takes the descriptor, also when it fails.
  static bool open(Door& door, int listening) {
    door.daemon = MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD, 0, nullptr, nullptr, &Impl::on_request, &door, MHD_OPTION_LISTEN_SOCKET, listening,
                                   MHD_OPTION_CONNECTION_LIMIT, door.socket ? kSocketConnections : kConnections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
                                   kConnectionsPerPeer, MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, kRequestBytes,
                                   MHD_OPTION_THREAD_POOL_SIZE, door.socket ? 0U : kThreads, MHD_OPTION_URI_LOG_CALLBACK, &on_first_line, nullptr,
                                   MHD_OPTION_NOTIFY_COMPLETED, &on_end, nullptr, MHD_OPTION_END);
    if (!door.daemon) close(listening);
    return door.daemon != nullptr;
  }

  HttpPeer peer(const Door& door, MHD_Connection* connection, std::string_view version) const {
    if (door.socket) return HttpPeer::on_socket;
    const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (!info || std::ranges::none_of(allow, [&](const Cidr& range) { return range.contains(info->client_addr); })) return HttpPeer::stranger;
    return names_this_machine(connection, version, names) ? HttpPeer::allowed : HttpPeer::misnamed;
  }

  MHD_Result answer(MHD_Connection* connection, const HttpRequest& request) {
    HttpResponse response = handler(request);
    MHD_Response* out = nullptr;
    if (response.pieces) {
      out = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 64U << 10, read_stream, new Stream{std::move(response.pieces), {}, 0},
                                              [](void* p) { delete static_cast<Stream*>(p); });
    } else {
      auto body = response.body ? response.body : std::make_shared<const std::string>();
      const bool small = body->size() < 1024;
      if (!small && accepts_gzip(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT_ENCODING))) {
        out = make_response(compressed(body));
        MHD_add_response_header(out, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
      } else {
        out = make_response(std::move(body));
      }
      MHD_add_response_header(out, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    }
    MHD_add_response_header(out, MHD_HTTP_HEADER_CONTENT_TYPE, response.content_type.c_str());
    MHD_add_response_header(out, "X-Content-Type-Options", "nosniff");
    if (!response.allow.empty()) MHD_add_response_header(out, MHD_HTTP_HEADER_ALLOW, response.allow.c_str());
    for (const auto& [name, value] : response.headers) MHD_add_response_header(out, name, value.c_str());
    const MHD_Result queued = MHD_queue_response(connection, response.status, out);
    MHD_destroy_response(out);
    return queued;
  }

  static MHD_Result on_request(void* context, MHD_Connection* connection, const char* url, const char* method, const char* version, const char* upload,
                               std::size_t* upload_size, void** state) {
    // libmicrohttpd calls once with the headers, then with each piece of the body, then once more.
    const Door& door = *static_cast<const Door*>(context);
    Incoming& in = *static_cast<Incoming*>(*state);
    const bool oversized = !in.begun && announces_too_much(connection);
    if (!in.begun && !oversized) {
      in.begun = true;
      return MHD_YES;
    }
    if (*upload_size != 0) {
      if (in.body.size() + *upload_size > kMostBodyBytes) return MHD_NO;  // in chunks, and nobody said how many: hang up
      in.body.append(upload, *upload_size);
      *upload_size = 0;
      return MHD_YES;
    }
    const std::string_view verb(method);
    const char* const accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
    return door.impl.answer(connection, {.method = verb == MHD_HTTP_METHOD_HEAD ? MHD_HTTP_METHOD_GET : verb, .path = url, .query = in.query,
                                         .peer = door.impl.peer(door, connection, version), .body = in.body, .oversized = oversized,
                                         .accept = accept ? accept : ""});
  }

 private:
  // The page of one snapshot is asked for by several scrapers: compressed once.
  std::shared_ptr<const std::string> compressed(const std::shared_ptr<const std::string>& body) {
    const std::lock_guard lock(mutex_);
    if (last_body_ != body) {
      last_compressed_ = std::make_shared<const std::string>(gzip(*body));
      last_body_ = body;
    }
    return last_compressed_;
  }

  std::mutex mutex_;
  std::shared_ptr<const std::string> last_body_, last_compressed_;
};

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpOptions& options, Handler handler) {
  auto impl = std::make_unique<Impl>();
  impl->handler = std::move(handler);
  for (const std::string& text : options.allow) {
    auto range = Cidr::parse(text);
    if (!range) return std::unexpected(std::move(range.error()));
    impl->allow.push_back(*range);
  }
  std::array<char, 256> own{};
  gethostname(own.data(), own.size() - 1);
  auto names = HostNames::make(options.hosts, own.data());
  if (!names) return std::unexpected(std::move(names.error()));
  impl->names = std::move(*names);
  const auto fd = listen_socket(options.listen);
  if (!fd) return std::unexpected(fd.error());
  if (!Impl::open(impl->tcp, *fd)) return fail(ErrorCode::io, "cannot start the HTTP server on " + options.listen);
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

Result<> HttpServer::serve_socket(int listening) {
  if (!Impl::open(impl_->socket, listening)) return fail(ErrorCode::io, "cannot start the HTTP server on the unix socket");
  return {};
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

std::vector<int> HttpServer::listen_descriptors() const {
  std::vector<int> out;
  for (const Impl::Door* door : {&impl_->tcp, &impl_->socket}) {
    if (door->daemon) out.push_back(MHD_get_daemon_info(door->daemon, MHD_DAEMON_INFO_LISTEN_FD)->listen_fd);
  }
  return out;
}

std::uint16_t HttpServer::port() const { return MHD_get_daemon_info(impl_->tcp.daemon, MHD_DAEMON_INFO_BIND_PORT)->port; }

}  // namespace qpscope
