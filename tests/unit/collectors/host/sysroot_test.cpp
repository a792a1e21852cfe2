// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/sysroot.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>

#include "temp_tree.h"

using namespace qpscope;
using qpscope::test::TempTree;

namespace {

Sysroot open_root(const TempTree& tree) {
  auto root = Sysroot::open(tree.path());
  REQUIRE(root);
  REQUIRE_FALSE(root->live());
  return std::move(*root);
}

}  // namespace

TEST_CASE("a root that is missing or no folder is a clear error", "[host.sysroot]") {
  const TempTree tree;
  tree.file("plain", "x");
  const auto missing = Sysroot::open(tree.path() + "/no-such");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK(missing.error().what.find("no-such") != std::string::npos);
  const auto plain = Sysroot::open(tree.path() + "/plain");
  REQUIRE_FALSE(plain);
  CHECK(plain.error().sys_errno == ENOTDIR);
  if (::geteuid() != 0) {
    tree.folder("closed");
    REQUIRE(::chmod(tree.at("closed").c_str(), 0) == 0);
    const auto closed = Sysroot::open(tree.path() + "/closed");
    ::chmod(tree.at("closed").c_str(), 0700);  // so that it can be removed
    REQUIRE_FALSE(closed);
    CHECK(closed.error().code == ErrorCode::permission);
  }
}

TEST_CASE("text is read whole, with and without the first slash", "[host.sysroot]") {
  const TempTree tree;
  tree.file("sys/a/fw_ver", "28.39.1002\n");
  tree.file("sys/a/empty", "");
  const Sysroot root = open_root(tree);
  CHECK(root.read_text("/sys/a/fw_ver").value() == "28.39.1002\n");
  CHECK(root.read_text("sys/a/fw_ver").value() == "28.39.1002\n");
  CHECK(root.read_text("//sys//a/fw_ver").value() == "28.39.1002\n");
  CHECK(root.read_text("/sys/a/empty").value().empty());
  CHECK(root.read_text("/sys/a/none").error().code == ErrorCode::not_found);
  CHECK(root.read_text("/sys/a/fw_ver/below").error().code == ErrorCode::not_found);
  CHECK(root.read_text("/sys/a").error().sys_errno == EISDIR);
}

TEST_CASE("a file may have 64 KiB and no more", "[host.sysroot]") {
  const TempTree tree;
  tree.file("most", std::string(Sysroot::kMostBytes, 'x'));
  tree.file("more", std::string(Sysroot::kMostBytes + 1, 'x'));
  const Sysroot root = open_root(tree);
  CHECK(root.read_text("most").value().size() == Sysroot::kMostBytes);
  CHECK(root.read_text("more").error().code == ErrorCode::limit);
}

TEST_CASE("a FIFO in the tree does not hang the reader", "[host.sysroot]") {
  const TempTree tree;
  REQUIRE(::mkfifo(tree.at("fifo").c_str(), 0600) == 0);
  CHECK(open_root(tree).read_text("fifo").value().empty());
}

TEST_CASE("numbers", "[host.sysroot]") {
  CHECK(parse_u64("0\n", "f").value() == 0);
  CHECK(parse_u64(" \t42 \n", "f").value() == 42);
  CHECK(parse_u64("0x15b3\n", "f").value() == 0x15b3);
  CHECK(parse_u64("0XFF", "f").value() == 255);
  CHECK(parse_u64("18446744073709551615", "f").value() == UINT64_MAX);
  CHECK(parse_u64("0xffffffffffffffff", "f").value() == UINT64_MAX);
  for (const char* text : {"", "\n", "18446744073709551616", "0x10000000000000000", "12 34", "12a", "-1", "+1", "0x", "0x-1", "0x0x1",
                           "N/A (no PMA)", "1.5"}) {
    CAPTURE(text);
    const auto number = parse_u64(text, "f");
    REQUIRE_FALSE(number);
    CHECK(number.error().code == ErrorCode::parse);
  }
}

TEST_CASE("a bad number names its file and shows the text safe and cut", "[host.sysroot]") {
  const TempTree tree;
  tree.file("sys/bad", "\x1b[31m\xff" + std::string(500, 'y'));
  const auto number = open_root(tree).read_u64("/sys/bad");
  REQUIRE_FALSE(number);
  CHECK(number.error().what.find("/sys/bad") != std::string::npos);
  CHECK(number.error().what.find("\\x1b[31m\\xff") != std::string::npos);
  CHECK(number.error().what.find('\x1b') == std::string::npos);
  CHECK(number.error().what.size() < tree.path().size() + 200);
}

TEST_CASE("folders are listed in natural order, links among their entries", "[host.sysroot]") {
  const TempTree tree;
  for (const char* name : {"mlx5_10", "mlx5_2", "bnxt_re0", "mlx5_0"}) tree.folder(std::string("sys/class/infiniband/") + name);
  tree.link("sys/class/infiniband/mlx5_1", "../../nowhere");
  const Sysroot root = open_root(tree);
  CHECK(root.list("/sys/class/infiniband").value() == std::vector<std::string>{"bnxt_re0", "mlx5_0", "mlx5_1", "mlx5_2", "mlx5_10"});
  CHECK(root.list("/sys/class/net").error().code == ErrorCode::not_found);
  tree.folder("sys/empty");
  CHECK(root.list("/sys/empty").value().empty());
  tree.file("sys/plain", "");
  CHECK_FALSE(root.list("/sys/plain"));
  CHECK(root.list("/").value() == std::vector<std::string>{"sys"});
}

TEST_CASE("links resolve inside the root however they are written", "[host.sysroot]") {
  const TempTree tree;
  tree.file("sys/devices/pci/infiniband/mlx5_0/fw_ver", "inside");
  tree.file("etc/hostname", "inside the root");
  tree.link("sys/class/infiniband/mlx5_0", "../../devices/pci/infiniband/mlx5_0");
  tree.link("sys/absolute", "/etc/hostname");
  tree.link("sys/climber", "../../../../../../../../../../etc/hostname");
  tree.link("sys/escape", "../../../../../../../../../../etc/passwd");
  tree.link("sys/loop", "loop");
  const Sysroot root = open_root(tree);
  CHECK(root.read_text("/sys/class/infiniband/mlx5_0/fw_ver").value() == "inside");
  CHECK(root.read_text("/sys/absolute").value() == "inside the root");
  CHECK(root.read_text("/sys/climber").value() == "inside the root");
  CHECK(root.read_text("/sys/../../../../etc/hostname").value() == "inside the root");
  CHECK(root.read_text("/sys/escape").error().code == ErrorCode::not_found);
  CHECK(root.read_text("/sys/loop").error().sys_errno == ELOOP);
  CHECK(root.exists("/sys/absolute"));
  CHECK_FALSE(root.exists("/sys/escape"));
}

TEST_CASE("link names, dangling or not", "[host.sysroot]") {
  const TempTree tree;
  tree.file("sys/dev/plain", "");
  tree.link("sys/dev/driver", "../../../bus/pci/drivers/mlx5_core");
  tree.link("sys/dev/one", "name");
  tree.link("sys/dev/slashes", "/a/b//");
  tree.link("sys/dev/slash", "/");
  const Sysroot root = open_root(tree);
  CHECK(root.link_name("/sys/dev/driver").value() == "mlx5_core");
  CHECK(root.link_name("/sys/dev/one").value() == "name");
  CHECK(root.link_name("/sys/dev/slashes").value() == "b");
  CHECK(root.link_name("/sys/dev/slash").value() == "/");
  CHECK(root.link_name("/sys/dev/plain").error().code == ErrorCode::invalid);
  CHECK(root.link_name("/sys/dev/none").error().code == ErrorCode::not_found);
}

TEST_CASE("real paths are those seen from the root", "[host.sysroot]") {
  const TempTree tree;
  tree.folder("sys/devices/pci0000:3b/infiniband/mlx5_0");
  tree.link("sys/class/infiniband/mlx5_0", "/sys/devices/pci0000:3b/infiniband/mlx5_0");
  const Sysroot root = open_root(tree);
  CHECK(root.real_path("/sys/class/infiniband/mlx5_0").value() == "/sys/devices/pci0000:3b/infiniband/mlx5_0");
  CHECK(root.real_path("/").value() == "/");
  CHECK(root.real_path("/sys/none").error().code == ErrorCode::not_found);
}

TEST_CASE("a folder as a root of its own stays the same folder", "[host.sysroot]") {
  const TempTree tree;
  tree.file("proc/7/comm", "old");
  const Sysroot root = open_root(tree);
  const auto task = root.folder("/proc/7");
  REQUIRE(task);
  std::filesystem::rename(tree.at("proc/7"), tree.at("proc/gone"));
  tree.file("proc/7/comm", "new");
  CHECK(task->read_text("comm").value() == "old");
  CHECK(root.read_text("/proc/7/comm").value() == "new");
}

TEST_CASE("the live root reads this machine, magic links included", "[host.sysroot]") {
  const auto root = Sysroot::open("/");
  REQUIRE(root);
  CHECK(root->live());
  CHECK(root->read_text("/proc/self/status"));
  CHECK(root->exists("/proc/self/exe"));
  CHECK(root->real_path("/proc").value() == "/proc");
  CHECK(Sysroot::open("/proc/self/root").value().live());
}

TEST_CASE("a kept file is read again from its start", "[host.sysroot]") {
  const TempTree tree;
  tree.file("sys/counter", "1\n");
  const Sysroot root = open_root(tree);
  CHECK(KeptFile::open(root, "/sys/none").error().code == ErrorCode::not_found);
  auto kept = KeptFile::open(root, "/sys/counter");
  REQUIRE(kept);
  std::array<char, 32> buffer{};
  CHECK(kept->read(buffer).value() == "1\n");
  tree.file("sys/counter", "22\n");
  CHECK(kept->read(buffer).value() == "22\n");
  KeptFile moved = std::move(*kept);
  CHECK(moved.read(buffer).value() == "22\n");
  CHECK(moved.read(std::span(buffer).first(3)).error().code == ErrorCode::limit);
}

TEST_CASE("a kept file whose descriptor went dead is opened again at the next read", "[host.sysroot]") {
  // A real descriptor that goes dead, without root: a closed one gives EBADF.
  const TempTree tree;
  tree.file("counter", "5\n");
  const Sysroot root = open_root(tree);
  const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // the lowest free number: the file below gets it
  REQUIRE(next >= 0);
  ::close(next);
  auto kept = KeptFile::open(root, "counter");
  REQUIRE(kept);
  ::close(next);
  std::array<char, 32> buffer{};
  const auto dead = kept->read(buffer);
  REQUIRE_FALSE(dead);
  CHECK(dead.error().sys_errno == EBADF);
  CHECK(kept->read(buffer).value() == "5\n");
}
