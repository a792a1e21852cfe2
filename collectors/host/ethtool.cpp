// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/ethtool.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "collectors/host/fd.h"

namespace qpscope {
namespace {

static_assert(kStatisticName == ETH_GSTRING_LEN);
constexpr std::size_t kMostText = 4 * 1024 * 1024;

// Where the kernel writes a set. Until 6.18 it writes the set as it is at that moment, whatever size it was asked for (net/ethtool/ioctl.c
// ethtool_get_strings, ethtool_get_stats): so there is room for the largest set, in pages that are not there until they are written to, and
// behind it a page that makes a still larger one EFAULT.
class Landing {
 public:
  explicit Landing(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    room_ = (bytes + page - 1) / page * page;
    void* at = ::mmap(nullptr, room_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return;
    at_ = static_cast<std::byte*>(at);
    mapped_ = room_ + page;
    fenced_ = ::mprotect(at_ + room_, page, PROT_NONE) == 0;
  }
  ~Landing() {
    if (at_) ::munmap(at_, mapped_);
  }
  Landing(const Landing&) = delete;
  Landing& operator=(const Landing&) = delete;

  explicit operator bool() const { return fenced_; }
  std::byte* data() const { return at_; }

 private:
  std::byte* at_ = nullptr;
  std::size_t room_ = 0, mapped_ = 0;
  bool fenced_ = false;
};

class KernelCalls : public EthtoolCalls {
 public:
  Result<std::string> driver(const std::string& netdev) {
    ethtool_drvinfo info{};
    info.cmd = ETHTOOL_GDRVINFO;
    if (auto done = ask(netdev, &info, "GDRVINFO"); !done) return std::unexpected(std::move(done.error()));
    return std::string(info.driver, ::strnlen(info.driver, sizeof info.driver));
  }

  Result<std::size_t> count(const std::string& netdev) override {
    // ethtool_sset_info with room for one set's size.
    struct {
      std::uint32_t cmd, reserved;
      std::uint64_t mask;
      std::uint32_t size;
    } info{.cmd = ETHTOOL_GSSET_INFO, .reserved = 0, .mask = std::uint64_t{1} << ETH_SS_STATS, .size = 0};
    if (auto done = ask(netdev, &info, "GSSET_INFO"); !done) return std::unexpected(std::move(done.error()));
    return info.mask ? info.size : 0;  // the kernel leaves out a set that the driver does not have
  }

  Result<std::string> names(const std::string& netdev, std::size_t count) override {
    const Landing landing(sizeof(ethtool_gstrings) + kMostStatistics * kStatisticName);
    if (!landing) return std::unexpected(io_error("mmap", errno));
    ethtool_gstrings head;
    head.cmd = ETHTOOL_GSTRINGS;
    head.string_set = ETH_SS_STATS;
    head.len = static_cast<std::uint32_t>(count);
    std::memcpy(landing.data(), &head, sizeof head);
    if (auto done = ask(netdev, landing.data(), "GSTRINGS"); !done) return std::unexpected(std::move(done.error()));
    std::memcpy(&head, landing.data(), sizeof head);
    if (head.len > kMostStatistics) return std::string();
    return std::string(reinterpret_cast<const char*>(landing.data()) + sizeof head, head.len * kStatisticName);
  }

  Result<std::vector<std::uint64_t>> values(const std::string& netdev, std::size_t count) override {
    const Landing landing(sizeof(ethtool_stats) + kMostStatistics * sizeof(std::uint64_t));
    if (!landing) return std::unexpected(io_error("mmap", errno));
    ethtool_stats head;
    head.cmd = ETHTOOL_GSTATS;
    head.n_stats = static_cast<std::uint32_t>(count);
    std::memcpy(landing.data(), &head, sizeof head);
    if (auto done = ask(netdev, landing.data(), "GSTATS"); !done) return std::unexpected(std::move(done.error()));
    std::memcpy(&head, landing.data(), sizeof head);
    std::vector<std::uint64_t> out(head.n_stats > kMostStatistics ? 0 : head.n_stats);
    if (!out.empty()) std::memcpy(out.data(), landing.data() + sizeof head, out.size() * sizeof(std::uint64_t));
    return out;
  }

 private:
  Result<> ask(const std::string& netdev, void* request, const char* command) {
    const std::string what = "ethtool " + std::string(command) + " of " + netdev;
    ifreq target{};
    if (netdev.size() >= sizeof target.ifr_name) return fail(ErrorCode::not_found, what + ": no name of a netdev", ENODEV);
    std::memcpy(target.ifr_name, netdev.data(), netdev.size());
    target.ifr_data = static_cast<char*>(request);
    // Any socket will do; a unix one asks for no protocol that may be missing.
    if (!socket_) socket_ = Fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket_) return std::unexpected(io_error(what, errno));
    if (::ioctl(socket_.get(), SIOCETHTOOL, &target) == 0) return {};
    Error error = io_error(what, errno);
    if (error.sys_errno == EOPNOTSUPP) error.code = ErrorCode::unsupported;
    return std::unexpected(std::move(error));
  }

  Fd socket_;
};

class KernelEthtool : public Ethtool {
 public:
  Result<std::string> driver(const std::string& netdev) override { return calls_.driver(netdev); }
  Result<NetdevStatistics> statistics(const std::string& netdev) override { return consistent_statistics(calls_, netdev); }

 private:
  KernelCalls calls_;
};

class TextEthtool : public Ethtool {
 public:
  explicit TextEthtool(const Sysroot& root) : root_(root) {}
  Result<std::string> driver(const std::string& netdev) override { return fail(ErrorCode::unsupported, netdev + ": a text names no driver"); }
  Result<NetdevStatistics> statistics(const std::string& netdev) override {
    const std::string path = "/ethtool/" + netdev + ".txt";
    const auto text = root_.read_text(path, kMostText);
    if (!text) return std::unexpected(text.error());
    return parse_ethtool_text(*text, path);
  }

 private:
  const Sysroot& root_;
};

Error too_many(std::string_view where, std::size_t count) {
  return {ErrorCode::limit, 0, std::string(where) + ": " + std::to_string(count) + " statistics, and " + std::to_string(kMostStatistics) + " are read at most"};
}

}  // namespace

std::string_view NetdevStatistics::name(std::size_t index) const {
  const std::string_view all = std::string_view(names).substr(index * kStatisticName, kStatisticName);
  return all.substr(0, all.find('\0'));
}

std::unique_ptr<Ethtool> kernel_ethtool() { return std::make_unique<KernelEthtool>(); }
std::unique_ptr<Ethtool> text_ethtool(const Sysroot& root) { return std::make_unique<TextEthtool>(root); }

Result<NetdevStatistics> consistent_statistics(EthtoolCalls& calls, const std::string& netdev) {
  for (int tries = 0; tries < 2; ++tries) {
    const auto count = calls.count(netdev);
    if (!count) return std::unexpected(count.error());
    // The kernel warns in its log where the names of an empty set are asked for.
    if (*count == 0) return fail(ErrorCode::unsupported, netdev + " has no statistics", EOPNOTSUPP);
    if (*count > kMostStatistics) return std::unexpected(too_many(netdev, *count));
    auto names = calls.names(netdev, *count);
    if (!names) return std::unexpected(std::move(names.error()));
    auto values = calls.values(netdev, *count);
    if (!values) return std::unexpected(std::move(values.error()));
    const auto again = calls.names(netdev, *count);
    if (!again) return std::unexpected(again.error());
    if (names->size() != *count * kStatisticName || values->size() != *count || *again != *names) continue;
    return NetdevStatistics{.names = std::move(*names), .values = std::move(*values)};
  }
  return std::unexpected(io_error("statistics of " + netdev + " changed twice while they were read", EAGAIN));
}

Result<NetdevStatistics> parse_ethtool_text(std::string_view text, std::string_view where) {
  constexpr std::string_view kTitle = "NIC statistics:", kNone = "no stats available", kBlanks = " \t\r";
  NetdevStatistics out;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(kBlanks)));
    line = line.substr(0, line.find_last_not_of(kBlanks) + 1);
    if (line.empty() || line == kTitle) continue;
    if (line == kNone) return fail(ErrorCode::unsupported, std::string(where) + ": no statistics", EOPNOTSUPP);
    const std::string at = std::string(where) + " line " + std::to_string(number);
    const auto colon = line.rfind(": ");
    const std::string_view name = line.substr(0, colon);
    if (colon == std::string_view::npos || name.empty() || name.size() > kStatisticName || name.contains('\0')) {
      return fail(ErrorCode::parse, at + ": a name and a number are expected, not " + quoted(line));
    }
    const auto value = parse_u64(line.substr(colon + 2), at);
    if (!value) return std::unexpected(value.error());
    if (out.values.size() == kMostStatistics) return std::unexpected(too_many(where, out.values.size() + 1));
    out.names.append(name).append(kStatisticName - name.size(), '\0');
    out.values.push_back(*value);
  }
  if (out.values.empty()) return fail(ErrorCode::unsupported, std::string(where) + ": no statistics", EOPNOTSUPP);
  return out;
}

}  // namespace qpscope
