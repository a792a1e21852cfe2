// SPDX-License-Identifier: Apache-2.0
#include "client.h"

#include <curl/curl.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "core/text.h"

namespace qpscope::cli {
namespace {

constexpr std::size_t kMostBytes = 64U << 20;  // of an answer: 10,000 queue pairs are a tenth of it
constexpr std::size_t kPage = 10000;           // what the daemon gives at once

std::size_t take(char* data, std::size_t, std::size_t size, void* context) {
  auto& out = *static_cast<std::string*>(context);
  if (out.size() + size > kMostBytes) return 0;  // libcurl gives up
  out.append(data, size);
  return size;
}

// Percent-encoded but for what never means anything (RFC 3986, 2.3).
std::string encode(const std::string& text) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || std::strchr("-._~", c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      (out += '%') += {kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

Failure not_reached(const std::string& socket, CURLcode code, int sys_errno) {
  const std::string where = safe_message(socket);
  if (sys_errno == EACCES || sys_errno == EPERM) return {kNoPermission, "no permission to open " + where + ": run as root or with its group"};
  if (code == CURLE_COULDNT_CONNECT) return {kNoDaemon, "no qpscoped serves " + where + ": is it running? (systemctl status qpscoped)"};
  return {kRefused, where + ": " + curl_easy_strerror(code)};
}

// {"error": {"message": …}}; where it is not that, the status.
std::string message_of(const Json& answer, long status) {
  const auto pointer = Json::json_pointer("/error/message");
  if (answer.is_object() && answer.contains(pointer) && answer.at(pointer).is_string()) return safe_message(answer.at(pointer).get<std::string>());
  return "qpscoped answers with status " + std::to_string(status);
}

}  // namespace

struct Client::Handle {
  CURL* curl = curl_easy_init();
  ~Handle() { curl_easy_cleanup(curl); }
};

Client::Client(std::string socket, long most_seconds) : socket_(std::move(socket)), most_seconds_(most_seconds), handle_(std::make_unique<Handle>()) {}
Client::~Client() = default;

Outcome<Json> Client::get(const std::string& path, Parameters parameters) {
  std::string target = path;
  for (const auto& [name, value] : parameters) target += (target.size() == path.size() ? '?' : '&') + encode(name) + "=" + encode(value);
  curl_easy_setopt(handle_->curl, CURLOPT_HTTPGET, 1L);
  return perform(target);
}

Outcome<Json> Client::get_list(const std::string& path, const std::string& list, Parameters parameters) {
  auto answer = get(path, parameters);
  if (!answer) return answer;
  const Json& data = answer->at("data");
  if (!data.is_object() || !data.contains(list) || !data[list].is_array()) return std::unexpected(Failure{kRefused, "not an answer of qpscoped: no list of " + list});
  return answer;
}

Outcome<Json> Client::get_pages(const std::string& path, const std::string& list, Parameters parameters, std::size_t limit) {
  Json whole, all = Json::array();
  std::string cursor;
  for (std::size_t before = 0;; before = all.size()) {
    std::vector page_parameters(parameters.begin(), parameters.end());
    page_parameters.emplace_back("limit", std::to_string(limit ? std::min(kPage, limit - all.size()) : kPage));
    if (!cursor.empty()) page_parameters.emplace_back("cursor", cursor);
    auto page = get_list(path, list, page_parameters);
    if (!page) return page;
    Json& data = page->at("data");
    for (Json& entry : data[list]) all.push_back(std::move(entry));
    cursor = data.contains("next") && data["next"].is_string() ? data["next"].get<std::string>() : std::string();
    if (whole.is_null()) whole = std::move(*page);
    if (cursor.empty() || all.size() == before || (limit && all.size() >= limit)) break;  // an empty page with a next one would have no end
  }
  whole["data"].erase("next");
  whole["data"][list] = std::move(all);
  return whole;
}

Outcome<Json> Client::post(const std::string& path, const Json& body) {
  const std::string text = body.dump(-1, ' ', true, Json::error_handler_t::replace);
  curl_easy_setopt(handle_->curl, CURLOPT_COPYPOSTFIELDS, text.c_str());
  return perform(path);
}

Outcome<Json> Client::perform(const std::string& target) {
  if (socket_.empty() || socket_.size() >= sizeof sockaddr_un{}.sun_path) return std::unexpected(Failure{kUsage, "\"" + safe_message(socket_) + "\" cannot be the path of a socket"});
  CURL* const curl = handle_->curl;
  std::string text;
  curl_easy_setopt(curl, CURLOPT_URL, ("http://localhost" + target).c_str());
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, most_seconds_);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &take);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &text);
  curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, socket_.c_str());
  if (const CURLcode code = curl_easy_perform(curl); code != CURLE_OK) {
    long sys_errno = 0;
    curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &sys_errno);
    return std::unexpected(not_reached(socket_, code, static_cast<int>(sys_errno)));
  }
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  Json answer = Json::parse(text, nullptr, false);
  if (status != 200) return std::unexpected(Failure{status == 403 ? kNoPermission : status == 400 ? kUsage : kRefused, message_of(answer, status)});
  if (!answer.is_object() || !answer.contains("data")) return std::unexpected(Failure{kRefused, safe_message(socket_) + ": not an answer of qpscoped"});
  return answer;
}

}  // namespace qpscope::cli
