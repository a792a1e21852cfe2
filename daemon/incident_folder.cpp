// SPDX-License-Identifier: Apache-2.0
#include "incident_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <memory>
#include <vector>

namespace qpscope {
namespace {

constexpr std::string_view kEnd = ".json";
constexpr const char* kTemporary = ".new";  // what a write that failed leaves is written over
constexpr std::size_t kMostName = 64;

// Below `root`, each where it is missing; of none is a link followed.
Result<Fd> open_folder(const Sysroot& root) {
  constexpr const char* kState = "/var/lib/qpscope";
  auto folder = root.open_file(kIncidentFolder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (folder || folder.error().code != ErrorCode::not_found) return folder;
  const auto lib = root.open_file("/var/lib", O_PATH | O_DIRECTORY);
  if (!lib) return std::unexpected(lib.error());
  if (::mkdirat(lib->get(), "qpscope", 0755) != 0 && errno != EEXIST) return std::unexpected(io_error(kState, errno));
  const auto state = root.open_file(kState, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  if (!state) return std::unexpected(state.error());
  if (::mkdirat(state->get(), "incidents", 0750) != 0 && errno != EEXIST) return std::unexpected(io_error(kIncidentFolder, errno));
  return root.open_file(kIncidentFolder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

struct Kept {
  std::string name;
  std::uint64_t bytes;
};

// The oldest first, which their names sort by.
Result<std::vector<Kept>> list(const Fd& folder) {
  const int copy = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return std::unexpected(io_error(kIncidentFolder, errno));
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(copy), ::closedir);
  if (!entries) {
    ::close(copy);
    return std::unexpected(io_error(kIncidentFolder, errno));
  }
  std::vector<Kept> out;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    struct stat info {};
    if (!name.ends_with(kEnd) || !is_incident_id(name.substr(0, name.size() - kEnd.size()))) continue;
    if (::fstatat(folder.get(), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode)) out.push_back({std::string(name), static_cast<std::uint64_t>(info.st_size)});
  }
  std::ranges::sort(out, {}, &Kept::name);
  return out;
}

Result<> write(const Fd& folder, std::string_view text) {
  ::unlinkat(folder.get(), kTemporary, 0);
  const Fd file(::openat(folder.get(), kTemporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640));
  if (!file) return std::unexpected(io_error(kIncidentFolder, errno));
  while (!text.empty()) {
    const ssize_t n = ::write(file.get(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::unexpected(io_error(kIncidentFolder, errno));
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  // The node may be about to be reset: that is when somebody will want to read it.
  return ::fsync(file.get()) == 0 ? Result<>() : std::unexpected(io_error(kIncidentFolder, errno));
}

}  // namespace

bool is_incident_id(std::string_view text) {
  constexpr std::string_view kShape = "00000000T000000Z-";
  if (text.size() <= kShape.size() || text.size() > kMostName) return false;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == '0' ? !std::isdigit(static_cast<unsigned char>(text[i])) : text[i] != kShape[i]) return false;
  }
  return std::ranges::all_of(text.substr(kShape.size()), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

Result<> IncidentFolder::keep(const std::string& id, std::string_view text) const {
  if (text.size() > most_bytes_) return fail(ErrorCode::limit, "it is larger than recorder.incidents_mib");
  const auto folder = open_folder(root_);
  if (!folder) return std::unexpected(folder.error());
  if (auto room = make_room(*folder, text.size()); !room) return room;
  auto written = write(*folder, text);
  if (written && ::renameat(folder->get(), kTemporary, folder->get(), (id + std::string(kEnd)).c_str()) != 0) written = std::unexpected(io_error(kIncidentFolder, errno));
  if (!written) ::unlinkat(folder->get(), kTemporary, 0);
  return written;
}

Result<> IncidentFolder::make_room(const Fd& folder, std::uint64_t bytes) const {
  const auto kept = list(folder);
  if (!kept) return std::unexpected(kept.error());
  std::uint64_t sum = bytes;
  for (const Kept& one : *kept) sum += one.bytes;
  std::size_t left = kept->size();
  for (const Kept& one : *kept) {
    if (left < most_files_ && sum <= most_bytes_) break;
    if (::unlinkat(folder.get(), one.name.c_str(), 0) != 0 && errno != ENOENT) return std::unexpected(io_error(std::string(kIncidentFolder) + "/" + one.name, errno));
    sum -= one.bytes;
    --left;
  }
  return {};
}

}  // namespace qpscope
