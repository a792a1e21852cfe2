// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/sysroot.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <memory>

#include "core/text.h"

namespace qpscope {
namespace {

// Relative to the root's descriptor: an absolute path would make openat ignore it.
const char* relative(const std::string& path) {
  const auto first = path.find_first_not_of('/');
  return first == std::string::npos ? "." : path.c_str() + first;
}

// -1 with errno set.
int open_in_root(int root, const char* path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_IN_ROOT;
  int fd = -1;
  // EAGAIN: something was renamed while a ".." was resolved, so the kernel could not be sure to be inside (openat2(2)).
  for (int tries = 0; tries < 16; ++tries) {
    fd = static_cast<int>(::syscall(SYS_openat2, root, path, &how, sizeof how));
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  return fd;
}

bool same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

// Where a descriptor's file lies, as the running system sees it. Empty: it cannot be told.
std::string path_of_fd(int fd) {
  std::array<char, PATH_MAX + 1> target{};
  const std::string link = "/proc/thread-self/fd/" + std::to_string(fd);
  const ssize_t n = ::readlink(link.c_str(), target.data(), target.size());
  if (n <= 0 || static_cast<std::size_t>(n) == target.size()) return {};
  return {target.data(), static_cast<std::size_t>(n)};
}

}  // namespace

std::string quoted(std::string_view untrusted) {
  constexpr std::size_t kMost = 40;
  std::string out = "\"" + safe_text(untrusted.substr(0, kMost)) + "\"";
  if (untrusted.size() > kMost) out += "...";
  return out;
}

Result<std::uint64_t> parse_u64(std::string_view text, std::string_view where) {
  const std::string_view number = trim(text);
  std::string_view digits = number;
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    digits.remove_prefix(2);
    base = 16;
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (digits.empty()) return fail(ErrorCode::parse, std::string(where) + ": a number is expected, not " + quoted(number));
  if (error == std::errc::result_out_of_range) {
    return fail(ErrorCode::parse, std::string(where) + ": does not fit into 64 bits: " + quoted(number));
  }
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return fail(ErrorCode::parse, std::string(where) + ": a number is expected, not " + quoted(number));
  }
  return value;
}

Result<Sysroot> Sysroot::open(const std::string& path) {
  const std::string what = "root folder " + quoted(path);
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return std::unexpected(io_error(what, errno));
  struct stat own {
  }, slash{};
  if (::fstat(fd.get(), &own) != 0 || ::stat("/", &slash) != 0) return std::unexpected(io_error(what, errno));
  const bool live = same_file(own, slash);
  if (!live) {
    const Fd probe(open_in_root(fd.get(), ".", O_PATH | O_CLOEXEC));
    if (!probe) return std::unexpected(io_error(what + ": openat2 (Linux 5.6, and not forbidden by a seccomp filter) is needed", errno));
  }
  return Sysroot(std::move(fd), path, live);
}

std::string Sysroot::full(const std::string& path) const { return (path_ == "/" ? "" : path_) + "/" + relative(path); }

Result<Fd> Sysroot::open_file(const std::string& path, int flags) const {
  flags |= O_CLOEXEC;
  int fd = -1;
  if (live_) {
    do fd = ::openat(fd_.get(), relative(path), flags);
    while (fd < 0 && errno == EINTR);
  } else {
    fd = open_in_root(fd_.get(), relative(path), flags);
  }
  if (fd < 0) return std::unexpected(io_error(full(path), errno));
  return Fd(fd);
}

Result<std::string> Sysroot::read_text(const std::string& path, std::size_t most) const {
  // O_NONBLOCK: a FIFO in a fixture must not hang us; regular, sysfs and proc files ignore it.
  auto fd = open_file(path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (!fd) return std::unexpected(std::move(fd.error()));
  std::string text;
  std::array<char, 4096> chunk;
  while (true) {
    const ssize_t n = ::read(fd->get(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::unexpected(io_error(full(path), errno));
    if (n == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(n));
    if (text.size() > most) return fail(ErrorCode::limit, full(path) + ": longer than " + std::to_string(most) + " bytes");
  }
}

Result<std::uint64_t> Sysroot::read_u64(const std::string& path) const {
  auto text = read_text(path);
  if (!text) return std::unexpected(std::move(text.error()));
  return parse_u64(*text, full(path));
}

Result<std::vector<std::string>> Sysroot::list(const std::string& path) const {
  auto fd = open_file(path, O_RDONLY | O_DIRECTORY);
  if (!fd) return std::unexpected(std::move(fd.error()));
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd->get()), ::closedir);
  if (!folder) return std::unexpected(io_error(full(path), errno));
  fd->release();  // closedir closes it
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (!entry && errno != 0) return std::unexpected(io_error(full(path), errno));
    if (!entry) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == kMostEntries) {
      return fail(ErrorCode::limit, full(path) + ": more than " + std::to_string(kMostEntries) + " entries");
    }
    names.emplace_back(name);
  }
  std::ranges::sort(names, [](const std::string& a, const std::string& b) { return ::strverscmp(a.c_str(), b.c_str()) < 0; });
  return names;
}

Result<std::string> Sysroot::link_name(const std::string& path) const {
  auto fd = open_file(path, O_PATH | O_NOFOLLOW);
  if (!fd) return std::unexpected(std::move(fd.error()));
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return std::unexpected(io_error(full(path), errno));
  if (!S_ISLNK(info.st_mode)) return fail(ErrorCode::invalid, full(path) + ": not a symbolic link");
  std::array<char, PATH_MAX + 1> target{};
  const ssize_t n = ::readlinkat(fd->get(), "", target.data(), target.size());
  if (n < 0) return std::unexpected(io_error(full(path), errno));
  std::string_view name(target.data(), static_cast<std::size_t>(n));
  while (name.size() > 1 && name.ends_with('/')) name.remove_suffix(1);
  const auto slash = name.rfind('/');
  return std::string(slash == std::string_view::npos || name.size() == 1 ? name : name.substr(slash + 1));
}

bool Sysroot::exists(const std::string& path) const { return open_file(path, O_PATH).has_value(); }

Result<std::string> Sysroot::real_path(const std::string& path) const {
  auto fd = open_file(path, O_PATH);
  if (!fd) return std::unexpected(std::move(fd.error()));
  const std::string root = path_of_fd(fd_.get());
  const std::string target = path_of_fd(fd->get());
  if (root.empty() || target.empty()) return fail(ErrorCode::io, full(path) + ": /proc/thread-self/fd cannot be read");
  if (target == root) return "/";
  const std::string below = root == "/" ? root : root + "/";
  if (!target.starts_with(below)) return fail(ErrorCode::not_found, full(path) + ": moved away while it was looked at");
  return target.substr(below.size() - 1);
}

Result<std::uint64_t> Sysroot::identity(const std::string& path) const {
  auto fd = open_file(path, O_PATH);
  if (!fd) return std::unexpected(std::move(fd.error()));
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return std::unexpected(io_error(full(path), errno));
  return info.st_ino;
}

Result<Sysroot> Sysroot::folder(const std::string& path) const {
  auto fd = open_file(path, O_RDONLY | O_DIRECTORY);
  if (!fd) return std::unexpected(std::move(fd.error()));
  return Sysroot(std::move(*fd), full(path), live_);
}

Result<KeptFile> KeptFile::open(const Sysroot& root, std::string path) {
  auto fd = root.open_file(path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (!fd) return std::unexpected(std::move(fd.error()));
  return KeptFile(root, std::move(path), std::move(*fd));
}

Result<std::string_view> KeptFile::read(std::span<char> buffer) {
  if (!fd_) {
    auto fd = root_->open_file(path_, O_RDONLY | O_NOCTTY | O_NONBLOCK);
    if (!fd) return std::unexpected(std::move(fd.error()));
    fd_ = std::move(*fd);
  }
  ssize_t n = -1;
  do n = ::pread(fd_.get(), buffer.data(), buffer.size(), 0);
  while (n < 0 && errno == EINTR);
  if (n < 0) {
    const int error = errno;
    fd_ = Fd();
    return std::unexpected(io_error(path_, error));
  }
  if (static_cast<std::size_t>(n) == buffer.size()) {
    return fail(ErrorCode::limit, path_ + ": " + std::to_string(buffer.size()) + " bytes or more");
  }
  return std::string_view(buffer.data(), static_cast<std::size_t>(n));
}

}  // namespace qpscope
