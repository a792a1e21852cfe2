// SPDX-License-Identifier: Apache-2.0
// The daemon's API over its unix socket. The only user of libcurl. Not thread-safe.
#pragma once

#include <expected>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

namespace qpscope::cli {

enum Exit : int {
  kDone = 0,
  kRefused = 1,     // the daemon said that it cannot, or something that is no answer
  kUsage = 2,       // of the command, or the daemon did not understand what was typed
  kNoDaemon = 3,
  kNoPermission = 4,
};

struct Failure {
  Exit exit;
  std::string message;
};
template <class T>
using Outcome = std::expected<T, Failure>;

using Json = nlohmann::ordered_json;
using Parameters = std::span<const std::pair<std::string, std::string>>;

class Client {
 public:
  explicit Client(std::string socket);
  ~Client();

  // What the daemon answered, whole: an object with "data".
  Outcome<Json> get(const std::string& path, Parameters parameters);
  Outcome<Json> post(const std::string& path, const Json& body);

 private:
  struct Handle;
  Outcome<Json> perform(const std::string& target);

  const std::string socket_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace qpscope::cli
