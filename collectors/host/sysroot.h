// SPDX-License-Identifier: Apache-2.0
// Files below an injected root: "/" on a live host, DIR of --root DIR elsewhere, so that every collector runs on a
// folder of fixtures. Paths are the host's ("/sys/class/infiniband"); a missing first "/" makes no difference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/host/fd.h"
#include "core/error.h"

namespace qpscope {

// Immutable after open() and used from any number of threads at once; move-only, owns one descriptor.
//
// Symbolic links, absolute ones and any number of ".." resolve inside the root (openat2 RESOLVE_IN_ROOT, Linux 5.6).
// The root "/" is read with plain openat instead: openat2 is forbidden in some containers, and RESOLVE_IN_ROOT refuses
// the magic links of /proc.
//
// Errors everywhere: what does not exist is ErrorCode::not_found and never an alarm by itself; the rest follows io_error().
class Sysroot {
 public:
  static constexpr std::size_t kMostBytes = 64 * 1024;  // of a file, unless the caller says more
  static constexpr std::size_t kMostEntries = 65536;    // of a folder

  static Result<Sysroot> open(const std::string& path);

  // The whole file; ErrorCode::limit beyond `most` bytes.
  Result<std::string> read_text(const std::string& path, std::size_t most = kMostBytes) const;
  // A decimal or 0x number with blanks around it. ErrorCode::parse for anything else, with the path and the text (made safe, cut).
  Result<std::uint64_t> read_u64(const std::string& path) const;
  // The names in a folder without "." and "..", in natural order (mlx5_2 before mlx5_10).
  Result<std::vector<std::string>> list(const std::string& path) const;
  // The last element of what a symbolic link points to; the target need not exist. ErrorCode::invalid when it is no link.
  Result<std::string> link_name(const std::string& path) const;
  // With links followed: a dangling link does not exist.
  bool exists(const std::string& path) const;
  // The path with all links resolved, as seen from the root, "/" first. Needs /proc of the running system.
  Result<std::string> real_path(const std::string& path) const;
  // Which of all that ever bore this name it is: of sysfs no number comes again (kernfs_node id, 64 bits), elsewhere an inode number may.
  Result<std::uint64_t> identity(const std::string& path) const;
  // The folder as a root of its own. Kept open it stays the same folder, also when its path comes to name another one:
  // that is how /proc/<tid> is read without mixing two tasks.
  Result<Sysroot> folder(const std::string& path) const;

  bool live() const { return live_; }                // this machine's own "/" (or a folder below it)
  const std::string& path() const { return path_; }  // as given; for messages

  // The root's own descriptor: what a thread that closes its files has to keep.
  int descriptor() const { return fd_.get(); }

  // For the classes of this room. `flags` as for open(2); O_CLOEXEC is added.
  Result<Fd> open_file(const std::string& path, int flags) const;

 private:
  Sysroot(Fd fd, std::string path, bool live) : fd_(std::move(fd)), path_(std::move(path)), live_(live) {}
  std::string full(const std::string& path) const;  // for messages

  Fd fd_;
  std::string path_;
  bool live_ = false;
};

// A file that is read again and again: opened once, then one pread(2) a read. Not thread-safe; the Sysroot must outlive it.
// After an error the next read() opens the path again: a sysfs folder that went away with its device leaves dead descriptors
// (ENODEV), and a device that was reloaded under its name comes back by itself.
class KeptFile {
 public:
  static Result<KeptFile> open(const Sysroot& root, std::string path);
  // Opened by the first read(), whose error says why not.
  static KeptFile later(const Sysroot& root, std::string path) { return KeptFile(root, std::move(path), Fd()); }

  // The bytes are in `buffer` and live as long as it. A file that fills the buffer is ErrorCode::limit: it may be longer.
  Result<std::string_view> read(std::span<char> buffer);
  const std::string& path() const { return path_; }

 private:
  KeptFile(const Sysroot& root, std::string path, Fd fd) : root_(&root), path_(std::move(path)), fd_(std::move(fd)) {}

  const Sysroot* root_;
  std::string path_;
  Fd fd_;
};

// Parses what read_u64 accepts; `where` names the source in the error.
Result<std::uint64_t> parse_u64(std::string_view text, std::string_view where);

// Untrusted bytes for an error message: quoted, safe, at most 40 of them.
std::string quoted(std::string_view untrusted);

}  // namespace qpscope
