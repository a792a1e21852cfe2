// SPDX-License-Identifier: Apache-2.0
// The JSON API, /api/v1/…: {schema, time, age_seconds, data}, or {error: {code, message}} with the status that goes with it.
// Thread-safe: the HTTP server's threads call it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/snapshot.h"
#include "exporters/api/status.h"
#include "exporters/http.h"

namespace qpscope {

struct FocusRequest {
  static constexpr std::uint32_t kMostSeconds = 3600;
  std::string device;
  Qpn qpn;
  std::uint32_t seconds = 60;  // from 1 to kMostSeconds
};

struct ProbesRequest {
  static constexpr std::uint32_t kMostSeconds = 86400;
  bool attached = true;
  std::uint32_t seconds = 900;  // from 1 to kMostSeconds: for which they are off
};

// What the API can ask the daemon to do. Called on the server's threads, which serve pages as well: an action that takes hardware hands over
// and returns. An action that is empty is answered with 501.
struct ApiActions {
  // A message for people, or why not: the error's code makes the status.
  std::function<Result<std::string>(const FocusRequest&)> focus;
  // Freezes the flight recorder: the id of the incident.
  std::function<Result<std::string>(const std::string& reason)> record;
  std::function<Result<std::string>(const ProbesRequest&)> probes;
};

struct ApiOptions {
  std::function<double()> wall_minus_boot;  // for time stamps
  std::function<BootTime()> now;            // for ages
  ApiActions actions;
};

class Api {
 public:
  Api(const SnapshotSource& source, ApiOptions options) : source_(source), options_(std::move(options)) {}

  // GET /api/v1/qps: {qps: […], next}; next, the cursor of the next page, only where there is more. Rendered as it is sent.
  HttpResponse queue_pairs(const HttpRequest& request) const;
  // GET /api/v1/status.
  HttpResponse status(const HttpRequest& request, PagesNow pages) const;
  // GET /api/v1/ports: {interval_seconds, ports: […]}.
  HttpResponse ports(const HttpRequest& request) const;
  // GET /api/v1/tenants: {tenants: […]}.
  HttpResponse tenants(const HttpRequest& request) const;
  // GET /api/v1/events: {events: […], next, dropped}.
  HttpResponse events(const HttpRequest& request) const;
  // GET /api/v1/probes: {bpf, probes: […], events}.
  HttpResponse probes(const HttpRequest& request) const;
  // POST /api/v1/probes {attached, seconds}: {message}. What is asked for is done soon: GET says when.
  HttpResponse set_probes(const HttpRequest& request) const;
  // POST /api/v1/focus {device, qpn, seconds}: {message}.
  HttpResponse focus(const HttpRequest& request) const;
  // POST /api/v1/record {reason}: {incident}.
  HttpResponse record(const HttpRequest& request) const;

 private:
  std::string envelope(const Snapshot& snapshot) const;
  template <class Request>
  HttpResponse act(const Result<Request>& wanted, const std::function<Result<std::string>(const Request&)>& action, const char* unable) const;

  const SnapshotSource& source_;
  const ApiOptions options_;
};

// `message` may hold untrusted bytes.
HttpResponse api_error(unsigned status, std::string_view message);

}  // namespace qpscope
