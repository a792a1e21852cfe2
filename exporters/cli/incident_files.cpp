// SPDX-License-Identifier: Apache-2.0
#include "incident_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <system_error>

#include "fields.h"

namespace qpscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 256U << 20;  // more than the daemon writes by far
constexpr std::size_t kMostFiles = 10000;
constexpr const char* kEnd = ".json";

Failure unreadable(const fs::path& path, const std::error_code& error) {
  const bool permission = error == std::errc::permission_denied;
  return {permission ? kNoPermission : kRefused, path.string() + ": " + error.message() + (permission ? "; incidents name processes: ask as root" : "")};
}

// Names without their end, the newest first.
Outcome<std::vector<std::string>> names(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> out;
  for (fs::directory_iterator at(folder, error), end; !error && at != end && out.size() < kMostFiles; at.increment(error)) {
    const fs::path& path = at->path();
    if (path.extension() == kEnd && path.filename().string().front() != '.') out.push_back(path.stem().string());
  }
  if (error == std::errc::no_such_file_or_directory) return out;  // nothing has happened yet
  if (error) return std::unexpected(unreadable(folder, error));
  std::ranges::sort(out, std::greater());
  return out;
}

Outcome<Json> parse(const fs::path& path, bool head_only) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::unexpected(unreadable(path, {errno, std::generic_category()}));
  std::string text;
  if (head_only) {
    std::getline(file, text);
    if (text.ends_with(',')) text.back() = '}';
  } else {
    std::error_code error;
    if (const auto size = fs::file_size(path, error); error || size > kMostBytes) return std::unexpected(Failure{kRefused, path.string() + " is too large for an incident"});
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  Json out = Json::parse(text, nullptr, false);
  if (!text_of(out, "id") || !number_of(out, "time")) return std::unexpected(Failure{kRefused, path.string() + " is no incident that qpscoped has written"});
  return out;
}

}  // namespace

Outcome<IncidentHeads> incident_heads(const std::string& folder) {
  const auto all = names(folder);
  if (!all) return std::unexpected(all.error());
  IncidentHeads out;
  for (const std::string& name : *all) {
    auto head = parse(fs::path(folder) / (name + kEnd), true);
    if (head) {
      out.heads.push_back(std::move(*head));
    } else {
      ++out.unreadable;
    }
  }
  return out;
}

Outcome<Json> read_incident(const std::string& folder, const std::string& which) {
  if (which.contains('/') || which.ends_with(kEnd)) return parse(which, false);
  const auto all = names(folder);
  if (!all) return std::unexpected(all.error());
  if (all->empty()) return std::unexpected(Failure{kRefused, "no incident is kept in " + folder});
  std::vector<std::string> fitting;
  for (const std::string& name : *all) {
    if (which.empty() || name == which) {
      fitting = {name};
      break;
    }
    if (name.starts_with(which)) fitting.push_back(name);
  }
  if (fitting.empty()) return std::unexpected(Failure{kRefused, "no incident " + which + " in " + folder + "; qpscope incidents has a list"});
  if (fitting.size() > 1) return std::unexpected(Failure{kUsage, which + " may be " + fitting[0] + " or " + fitting[1]});
  return parse(fs::path(folder) / (fitting.front() + kEnd), false);
}

}  // namespace qpscope::cli
