// SPDX-License-Identifier: Apache-2.0
#include "api_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "run_folder.h"

namespace qpscope {
namespace {

constexpr const char* kName = "api.sock";
constexpr const char* kPath = "/run/qpscope/api.sock";
constexpr mode_t kMode = 0660;

using NamedSocket = std::pair<Fd, sockaddr_un>;

// By its own name on a live host, which is what ss(8) then shows; elsewhere by the folder's descriptor: links resolve inside the root, and
// a path may be longer than a socket's name.
Result<NamedSocket> make_socket(const Sysroot& root, const Fd& folder) {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return std::unexpected(io_error(kPath, errno));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = root.live() ? kPath : "/proc/self/fd/" + std::to_string(folder.get()) + "/" + kName;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return NamedSocket(std::move(fd), address);
}

int connect_to(const NamedSocket& socket) {
  return ::connect(socket.first.get(), reinterpret_cast<const sockaddr*>(&socket.second), sizeof socket.second) == 0 ? 0 : errno;
}

// Takes away what a daemon left that was killed.
Result<> clear(const Sysroot& root, const Fd& folder) {
  struct stat info {};
  if (::fstatat(folder.get(), kName, &info, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT ? Result<>() : std::unexpected(io_error(kPath, errno));
  if (!S_ISSOCK(info.st_mode)) return fail(ErrorCode::invalid, std::string(kPath) + " is no socket: remove it");
  const auto probe = make_socket(root, folder);
  if (!probe) return std::unexpected(probe.error());
  const int error = connect_to(*probe);
  if (error == 0 || error == EAGAIN) return fail(ErrorCode::limit, "another qpscoped serves " + std::string(kPath));  // EAGAIN: its queue is full
  if (error != ECONNREFUSED) return std::unexpected(io_error(kPath, error));
  if (::unlinkat(folder.get(), kName, 0) != 0) return std::unexpected(io_error(kPath, errno));
  return {};
}

}  // namespace

Result<ApiSocket> ApiSocket::open(const Sysroot& root) {
  auto folder = open_run_folder(root);
  if (!folder) return std::unexpected(std::move(folder.error()));
  if (const auto done = clear(root, *folder); !done) return std::unexpected(done.error());
  auto socket = make_socket(root, *folder);
  if (!socket) return std::unexpected(std::move(socket.error()));
  auto& [fd, address] = *socket;
  // The file comes with the socket's own mode less the umask (net/unix/af_unix.c unix_bind_bsd): at no moment may more open it than shall.
  ::fchmod(fd.get(), kMode);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return std::unexpected(io_error(kPath, errno));
  ApiSocket out(std::move(*folder), std::move(fd));
  struct stat info {};
  if (::fstatat(out.folder_.get(), kName, &info, AT_SYMLINK_NOFOLLOW) != 0) return std::unexpected(io_error(kPath, errno));
  out.device_ = info.st_dev;
  out.inode_ = info.st_ino;
  if (::fchmodat(out.folder_.get(), kName, kMode, 0) != 0) return std::unexpected(io_error(kPath, errno));
  if (::listen(out.listening_.get(), SOMAXCONN) != 0) return std::unexpected(io_error(kPath, errno));
  return out;
}

ApiSocket::~ApiSocket() {
  struct stat info {};
  if (!folder_ || ::fstatat(folder_.get(), kName, &info, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (info.st_dev == device_ && info.st_ino == inode_) ::unlinkat(folder_.get(), kName, 0);
}

}  // namespace qpscope
