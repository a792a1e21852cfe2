// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/proc.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "temp_tree.h"

using namespace qpscope;
using qpscope::test::TempTree;

namespace {

std::string stat_line(std::string_view comm, std::string_view start) {
  return "77 (" + std::string(comm) + ") S 1 77 77 0 -1 4194304 100 0 0 0 1 2 0 0 20 0 3 0 " + std::string(start) +
         " 1000 20 18446744073709551615 1 1\n";
}

const std::string kStatus =
    "Name:\tpython3\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t70\nNgid:\t0\nPid:\t77\nUid:\t1000\t1001\t1002\t1003\nGid:\t5\t5\t5\t5\n";

}  // namespace

TEST_CASE("a task is read from its three files", "[host.proc]") {
  const TempTree tree;
  tree.file("proc/77/stat", stat_line("python3", "12345"));
  tree.file("proc/77/status", kStatus);
  tree.file("proc/77/cgroup", "0::/kubepods.slice/pod1/c1\n");
  const auto root = Sysroot::open(tree.path());
  REQUIRE(root);
  const auto task = read_task(*root, Pid{77});
  REQUIRE(task);
  CHECK(task->tid == Pid{77});
  CHECK(task->tgid == Pid{70});
  CHECK(task->comm == "python3");
  CHECK(task->uid == 1000);
  CHECK(task->cgroup_path == "/kubepods.slice/pod1/c1");
  CHECK(task->start_time.value == 12345 * (1'000'000'000ULL / static_cast<unsigned long>(::sysconf(_SC_CLK_TCK))));
  CHECK(read_task(*root, Pid{78}).error().code == ErrorCode::not_found);

  const Owner owner = owner_of(*task);
  CHECK(owner.known);
  CHECK(owner.user);
  CHECK(owner.tid == Pid{77});
  CHECK(owner.tgid == Pid{70});
  CHECK(owner.comm == "python3");
  CHECK(owner.cgroup_path == "/kubepods.slice/pod1/c1");
  CHECK(owner.cgroup.value == 0);

  std::filesystem::remove(tree.at("proc/77/cgroup"));
  CHECK(read_task(*root, Pid{77}).value().cgroup_path.empty());
  std::filesystem::remove(tree.at("proc/77/status"));
  CHECK(read_task(*root, Pid{77}).error().code == ErrorCode::not_found);
}

TEST_CASE("a hostile comm does not confuse stat", "[host.proc]") {
  for (const std::string comm : {") R 1", "a b", "x)\n(y", "((((", "))))", "", "\n\n", "\xff\xfe", ") S 1 1 1 1 1"}) {
    CAPTURE(comm);
    ProcTask task;
    REQUIRE(parse_stat(stat_line(comm, "7"), task));
    CHECK(task.comm == comm);
    CHECK(task.start_time.value == 7 * (1'000'000'000ULL / static_cast<unsigned long>(::sysconf(_SC_CLK_TCK))));
  }
}

TEST_CASE("stat that is cut or out of range is a parse error", "[host.proc]") {
  ProcTask task;
  for (const std::string& text :
       {std::string(), std::string("77 python3 S 1"), std::string(")("), std::string("77 (a"), std::string("77 (a) S 1 2 3"),
        stat_line("a", "-1"), stat_line("a", "12x"), stat_line("a", "99999999999999999999999"), stat_line("a", "18446744073709551615")}) {
    CAPTURE(text);
    const auto result = parse_stat(text, task);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::parse);
  }
}

TEST_CASE("status takes nothing from the Name line", "[host.proc]") {
  ProcTask task;
  REQUIRE(parse_status("Name:\tTgid: 1\nTgid:\t70\nTgid:\t71\nUid:\t0\t0\t0\t0\n", task));
  CHECK(task.tgid == Pid{70});
  REQUIRE(parse_status("Name:\tx\\nTgid: 1\nTgid:\t70\nUid:\t4294967295\t0\t0\t0\n", task));
  CHECK(task.uid == 4294967295U);
  CHECK_FALSE(parse_status("", task));
  CHECK_FALSE(parse_status("Name:\tx\nTgid:\t70\n", task));
  CHECK_FALSE(parse_status("Name:\tx\nTgid:\t70x\nUid:\t0\n", task));
}

TEST_CASE("the cgroup path comes from v2, or from v1 pids, then memory", "[host.proc]") {
  CHECK(parse_cgroup("0::/\n") == "/");
  CHECK(parse_cgroup("0::/a/b") == "/a/b");
  CHECK(parse_cgroup("9:name=systemd:/s\n8:pids:/p\n4:memory:/m\n0::/u\n") == "/p");
  CHECK(parse_cgroup("4:memory:/m\n3:cpu,cpuacct:/c\n0::/u\n") == "/m");
  CHECK(parse_cgroup("4:cpu,pids,memory:/m\n0::/u\n") == "/m");
  CHECK(parse_cgroup("4:cpu,cpuacct:/c\n0::/u\n") == "/u");
  CHECK(parse_cgroup("0::/with:colons::/x\n") == "/with:colons::/x");
  CHECK(parse_cgroup("0::/x (deleted)\n") == "/x (deleted)");
  CHECK(parse_cgroup("0::/../outside\n") == "/../outside");
  CHECK(parse_cgroup("7:mypids:/p\n6:pidsx:/q\n0::/u\n") == "/u");
  CHECK(parse_cgroup("").empty());
  CHECK(parse_cgroup("garbage\n1:2\n0::relative\n").empty());
}

TEST_CASE("an owner is completed by its own process alone", "[host.proc]") {
  const ProcTask task{.tid = {51}, .tgid = {50}, .comm = "leader", .start_time = {100}, .cgroup_path = "/now", .uid = 7};
  Owner made;
  made.known = made.user = true;
  made.tid = {51};
  made.tgid = {50};
  made.comm = "maker";
  made.cgroup_path = "/then";

  Owner owner = made;
  REQUIRE(complete(owner, task, {100}));
  CHECK(owner.uid == 7U);
  CHECK(owner.start_time == BootTime{100});
  CHECK(owner.comm == "maker");
  CHECK(owner.cgroup_path == "/then");
  CHECK(complete(owner, task, {500}));  // again, later

  ProcTask reused = task;
  reused.start_time = {200};
  reused.uid = 8;
  CHECK_FALSE(complete(owner, reused, {500}));
  CHECK(owner.uid == 7U);
  owner = made;
  CHECK_FALSE(complete(owner, reused, {199}));  // started after the queue pair was made
  CHECK_FALSE(owner.uid);
  reused = task;
  reused.tgid = {60};  // a thread of another process
  CHECK_FALSE(complete(owner, reused, {500}));

  Owner by_thread;
  by_thread.known = by_thread.user = true;
  by_thread.tid = {51};
  REQUIRE(complete(by_thread, task, {100}));
  CHECK(by_thread.tgid == Pid{50});
  CHECK(by_thread.comm == "leader");
  CHECK(by_thread.cgroup_path == "/now");
}

TEST_CASE("the first value of a variable counts", "[host.proc]") {
  using namespace std::string_view_literals;
  CHECK(environment_value("A=1\0AB=2\0A=3\0"sv, "A") == "1");
  CHECK(environment_value("A=1\0AB=2"sv, "AB") == "2");
  CHECK(environment_value("A=\0"sv, "A") == "");
  CHECK_FALSE(environment_value("AB=2\0=A\0A\0\0"sv, "A"));
  CHECK_FALSE(environment_value("", "A"));
}

TEST_CASE("an environment is read only of the process that is meant", "[host.proc]") {
  const auto root = Sysroot::open("/");
  REQUIRE(root);
  const Pid self{static_cast<std::uint32_t>(::getpid())};
  Owner owner = owner_of(read_task(*root, self).value());
  CHECK(environment_value(read_environment(*root, owner).value(), "PATH"));
  owner.tid = Pid{4'000'000'000};  // the thread has ended, the process lives
  CHECK(read_environment(*root, owner));
  owner.start_time->value += 1;
  CHECK(read_environment(*root, owner).error().code == ErrorCode::not_found);
  owner.start_time.reset();
  CHECK_FALSE(read_environment(*root, owner));
}

TEST_CASE("this process and its threads, on the live host", "[host.proc]") {
  const auto root = Sysroot::open("/");
  REQUIRE(root);
  ProcTask task;
  std::thread([&] {
    ::prctl(PR_SET_NAME, ") R 1 (\n");
    const auto tid = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    const auto read = read_task(*root, Pid{tid});
    if (read) task = *read;
  }).join();
  CHECK(task.tid.value != static_cast<std::uint32_t>(::getpid()));
  CHECK(task.tgid.value == static_cast<std::uint32_t>(::getpid()));
  CHECK(task.comm == ") R 1 (\n");
  CHECK(task.uid == ::getuid());
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const std::uint64_t now_ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  CHECK(task.start_time.value <= now_ns);
  CHECK(task.start_time.value + 60'000'000'000 > now_ns);

  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  CHECK(read_task(*root, Pid{static_cast<std::uint32_t>(child)}).error().code == ErrorCode::not_found);
}
