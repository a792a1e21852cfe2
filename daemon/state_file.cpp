// SPDX-License-Identifier: Apache-2.0
#include "state_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/log.h"
#include "core/text.h"
#include "run_folder.h"

namespace qpscope {
namespace {

constexpr const char* kName = "state";
constexpr const char* kTemporary = "state.new";
constexpr const char* kPath = "/run/qpscope/state";

}  // namespace

StateFile::StateFile(const Sysroot& root) : root_(root) {
  const auto boot_id = root_.read_text("/proc/sys/kernel/random/boot_id");
  if (boot_id) boot_id_ = trim(*boot_id).substr(0, kMaxText);
  if (boot_id_.empty()) log::info("this boot has no name (/proc/sys/kernel/random/boot_id): counters start anew with the daemon");
}

StateImage StateFile::load() const {
  if (boot_id_.empty()) return {};
  const auto text = read();
  if (!text && text.error().code == ErrorCode::not_found) return {};
  auto state = text ? parse_state(*text) : std::unexpected(text.error());
  if (!state) {
    log::warning(std::string(kPath) + " is ignored, counters start anew: " + state.error().what);
    return {};
  }
  if (state->boot_id != boot_id_) {
    log::info(std::string(kPath) + " is of another boot: counters start anew");
    return {};
  }
  return std::move(*state);
}

bool StateFile::save(std::vector<DeviceLedger> ledgers, SharedCarriedTotals own) {
  if (boot_id_.empty()) return false;
  if (!failed_ && ledgers == saved_ && own == saved_own_) return true;
  const Result<> done = write(state_text({.boot_id = boot_id_, .own = own, .devices = ledgers}));
  if (!done && !failed_) log::warning("totals are not kept over a restart (qpscope_state_saved 0): " + done.error().what);
  if (done && failed_) log::info("totals are kept over a restart again");
  failed_ = !done;
  if (done) {
    saved_ = std::move(ledgers);
    saved_own_ = std::move(own);
  }
  return !failed_;
}

Result<std::string> StateFile::read() const {
  // O_NONBLOCK: a FIFO must not hang us.
  auto fd = root_.open_file(kPath, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
  if (!fd) return std::unexpected(std::move(fd.error()));
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return std::unexpected(io_error(kPath, errno));
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::invalid, "not a file");
  if (static_cast<std::uint64_t>(info.st_size) > kMostStateBytes) return fail(ErrorCode::limit, "longer than " + std::to_string(kMostStateBytes) + " bytes");
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t n = ::read(fd->get(), text.data() + have, text.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::unexpected(io_error(kPath, errno));
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
  }
  text.resize(have);
  return text;
}

Result<> StateFile::write(std::string_view text) const {
  if (text.size() > kMostStateBytes) return fail(ErrorCode::limit, "more counters than the file may hold");
  // Opened for every write: the folder may be made again by whoever cleans up /run.
  const auto folder = open_run_folder(root_);
  if (!folder) return std::unexpected(folder.error());
  const auto make = [&] { return Fd(::openat(folder->get(), kTemporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)); };
  Fd file = make();
  // Whatever an earlier write left, or somebody put there, is not written into.
  if (!file && errno == EEXIST && ::unlinkat(folder->get(), kTemporary, 0) == 0) file = make();
  if (!file) return std::unexpected(io_error(std::string(kRunFolder) + "/" + kTemporary, errno));
  while (!text.empty()) {
    const ssize_t n = ::write(file.get(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::unexpected(io_error(std::string(kRunFolder) + "/" + kTemporary, errno));
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  if (::renameat(folder->get(), kTemporary, folder->get(), kName) != 0) return std::unexpected(io_error(kPath, errno));
  return {};
}

}  // namespace qpscope
