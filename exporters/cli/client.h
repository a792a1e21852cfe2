// SPDX-License-Identifier: Apache-2.0
// The daemon's API over its unix socket. The only user of libcurl. Not thread-safe.
#pragma once

#include <expected>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace qpscope::cli {

enum Exit : int {
  kDone = 0,
  kRefused = 1,     // the daemon said that it cannot, or something that is no answer
  kUsage = 2,       // of the command, or the daemon did not understand what was typed
  kNoDaemon = 3,
  kNoPermission = 4,
  kWrong = 5,       // status --check: something is wrong on this host
};

struct Failure {
  Exit exit;
  std::string message;
};
template <class T>
using Outcome = std::expected<T, Failure>;

using Json = nlohmann::ordered_json;
using ParameterList = std::vector<std::pair<std::string, std::string>>;
using Parameters = std::span<const ParameterList::value_type>;

class Client {
 public:
  static constexpr long kMostSeconds = 60;
  explicit Client(std::string socket, long most_seconds = kMostSeconds);  // for one answer
  ~Client();

  // What the daemon answered, whole: an object with "data".
  Outcome<Json> get(const std::string& path, Parameters parameters);
  // The same where "data" has this list.
  Outcome<Json> get_list(const std::string& path, const std::string& list, Parameters parameters);
  // The same where the list comes in pages: all of them put together, up to `limit` entries (0: all). Each page is of its own moment; whatever else is in
  // the answer is the first one's.
  Outcome<Json> get_pages(const std::string& path, const std::string& list, Parameters parameters, std::size_t limit);
  Outcome<Json> post(const std::string& path, const Json& body);

 private:
  struct Handle;
  Outcome<Json> perform(const std::string& target);

  const std::string socket_;
  const long most_seconds_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace qpscope::cli
