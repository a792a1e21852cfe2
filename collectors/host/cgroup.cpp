// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <string_view>

namespace qpscope {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// A folder that was removed while we walk is no trouble: it is simply not there any more.
bool vanished(int error) { return error == ENOENT || error == ENODEV || error == ENOTDIR || error == ELOOP; }

class Walker {
 public:
  explicit Walker(CgroupBudget budget) : budget_(budget) {}

  // Takes over `fd`, the folder that `path` ("" for the root) names.
  void visit(Fd fd, const std::string& path, std::size_t depth) {
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return failed(path, errno);
    if (out_.entries.size() == budget_.entries) return stop("more than " + std::to_string(budget_.entries) + " cgroups");
    out_.entries.push_back({CgroupId{info.st_ino}, path.empty() ? "/" : path});
    if (depth == budget_.depth) return incomplete("cgroups deeper than " + std::to_string(budget_.depth) + " levels");

    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd.get()), ::closedir);
    if (!folder) return failed(path, errno);
    fd.release();  // closedir closes it
    while (!stopped_) {
      errno = 0;
      const dirent* entry = ::readdir(folder.get());
      if (!entry) {
        if (errno != 0) failed(path, errno);
        return;
      }
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)) continue;
      Fd child(::openat(::dirfd(folder.get()), entry->d_name, kFolderFlags));
      std::string child_path = path + "/" + entry->d_name;
      if (child) {
        visit(std::move(child), child_path, depth + 1);
      } else {
        failed(child_path, errno);
      }
    }
  }

  CgroupListing take() { return std::move(out_); }

 private:
  void incomplete(std::string why) {
    out_.complete = false;
    if (out_.trouble.empty()) out_.trouble = std::move(why);
  }
  void stop(std::string why) {
    stopped_ = true;
    incomplete(std::move(why));
  }
  void failed(const std::string& path, int error) {
    if (!vanished(error)) incomplete(io_error("cgroup " + quoted(path), error).what);
  }

  CgroupBudget budget_;
  CgroupListing out_;
  bool stopped_ = false;
};

bool is_v2(const Sysroot& root, const std::string& mount, int fd) {
  if (!root.live()) return root.exists(mount + "/cgroup.controllers");
  struct statfs info {};
  return ::fstatfs(fd, &info) == 0 && static_cast<unsigned long>(info.f_type) == CGROUP2_SUPER_MAGIC;
}

}  // namespace

Result<CgroupWalk> CgroupWalk::open(const Sysroot& root) {
  const std::string top = "/sys/fs/cgroup";
  auto fd = root.open_file(top, O_RDONLY | O_DIRECTORY);
  if (!fd) return std::unexpected(std::move(fd.error()));
  if (is_v2(root, top, fd->get())) return CgroupWalk(std::move(*fd), top, true, root.live());
  for (const std::string_view controller : {"pids", "memory"}) {
    std::string mount = top + "/" + std::string(controller);
    auto v1 = root.open_file(mount, O_RDONLY | O_DIRECTORY);
    if (v1) return CgroupWalk(std::move(*v1), std::move(mount), false, root.live());
    if (v1.error().code != ErrorCode::not_found) return std::unexpected(std::move(v1.error()));
  }
  // Hybrid with every controller on v2.
  std::string mount = top + "/unified";
  auto unified = root.open_file(mount, O_RDONLY | O_DIRECTORY);
  if (unified && is_v2(root, mount, unified->get())) return CgroupWalk(std::move(*unified), std::move(mount), true, root.live());
  return fail(ErrorCode::not_found, top + ": neither cgroup v2 nor a v1 pids or memory hierarchy is mounted there");
}

CgroupListing CgroupWalk::walk(CgroupBudget budget) const {
  Walker walker(budget);
  // A descriptor of its own: reading a folder moves the descriptor's position, and fd_ may be shared by threads.
  Fd own(::openat(fd_.get(), ".", kFolderFlags));
  if (!own) return {{}, false, io_error(mount_, errno).what};
  walker.visit(std::move(own), "", 0);
  return walker.take();
}

std::optional<std::string> CgroupWalk::path_of(CgroupId id) const {
  if (!live_ || id.value == 0) return std::nullopt;
  // fs/kernfs/mount.c kernfs_fh_to_dentry: FILEID_KERNFS with the 64-bit id, since 5.5; the C library has no name for it.
  constexpr int kFileidKernfs = 0xfe;
  alignas(file_handle) std::array<char, sizeof(file_handle) + sizeof id.value> space{};
  auto* handle = reinterpret_cast<file_handle*>(space.data());
  handle->handle_bytes = sizeof id.value;
  handle->handle_type = kFileidKernfs;
  std::memcpy(handle->f_handle, &id.value, sizeof id.value);
  const Fd found(::open_by_handle_at(fd_.get(), handle, O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat there {
  }, here{};
  if (!found || ::fstat(found.get(), &there) != 0 || there.st_ino != id.value) return std::nullopt;
  if (::fstat(fd_.get(), &here) == 0 && here.st_ino == there.st_ino) return "/";

  const auto target = [](int fd) {
    std::array<char, PATH_MAX + 1> text{};
    const ssize_t n = ::readlink(("/proc/thread-self/fd/" + std::to_string(fd)).c_str(), text.data(), text.size() - 1);
    return std::string(text.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  };
  const std::string base = target(fd_.get());
  const std::string full = target(found.get());
  if (base.empty() || !full.starts_with(base + "/")) return std::nullopt;
  std::string path = full.substr(base.size());
  // Removed meanwhile, /proc appends " (deleted)", which may also be a cgroup's own name: look whether it still leads there.
  if (::fstatat(fd_.get(), path.c_str() + 1, &there, AT_SYMLINK_NOFOLLOW) != 0 || there.st_ino != id.value) return std::nullopt;
  return path;
}

}  // namespace qpscope
