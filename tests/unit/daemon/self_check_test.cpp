// SPDX-License-Identifier: Apache-2.0
#include "self_check.h"

#include <catch2/catch.hpp>
#include <cerrno>

#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;
using Verdict = SelfCheck::Verdict;

namespace {

QpRecord user_qp() {
  return {.key = {kDev, {7}}, .qpn = {17}, .type = QpType::rc, .port = {1}, .from_bpf = true, .owner = owner_of_thread(100)};
}
QpRecord kernel_qp() {
  QpRecord record = user_qp();
  Owner owner;
  owner.known = true;
  owner.kern_name = "nvme_rdma";
  record.owner = std::make_shared<const Owner>(owner);
  return record;
}
Result<QpRow> absent() { return std::unexpected(io_error("get", ENOENT)); }

}  // namespace

TEST_CASE("one user queue pair that agrees verifies layout and owners", "[daemon.self_check]") {
  SelfCheck check(true);
  CHECK(check.verdict() == Verdict::unverified);
  CHECK_FALSE(check.owners_verified());
  check.compare(user_qp(), row(17));
  CHECK(check.verdict() == Verdict::verified);
  CHECK(check.owners_verified());
}

TEST_CASE("a kernel queue pair says nothing about user owners", "[daemon.self_check]") {
  SelfCheck check(true);
  QpRow answer = row(17, QpState::rts, QpType::rc, 1, 0);
  answer.kern_name = "nvme_rdma";
  check.compare(kernel_qp(), answer);
  CHECK(check.verdict() == Verdict::verified);
  CHECK_FALSE(check.owners_verified());
}

TEST_CASE("a missing pid is unknown, not a mismatch", "[daemon.self_check]") {
  SelfCheck check(true);
  check.compare(user_qp(), row(17, QpState::rts, QpType::rc, 1, 0));
  CHECK(check.verdict() == Verdict::verified);
  CHECK_FALSE(check.owners_verified());
}

TEST_CASE("pids are compared only in the initial pid namespace", "[daemon.self_check]") {
  SelfCheck check(false);
  check.compare(user_qp(), row(17, QpState::rts, QpType::rc, 1, 5));
  CHECK(check.verdict() == Verdict::verified);
  CHECK(check.owners_verified());
}

TEST_CASE("one disagreement is enough, and is final", "[daemon.self_check]") {
  SelfCheck check(true);
  SECTION("number") {
    check.compare(user_qp(), row(18));
    CHECK_THAT(check.reason(), Catch::Contains("18"));
  }
  SECTION("type") {
    check.compare(user_qp(), row(17, QpState::rts, QpType::ud));
    CHECK_THAT(check.reason(), Catch::Contains("UD"));
  }
  SECTION("thread") {
    check.compare(user_qp(), row(17, QpState::rts, QpType::rc, 1, 555));
    CHECK_THAT(check.reason(), Catch::Contains("555") && Catch::Contains("100"));
  }
  SECTION("BPF says user, netlink says kernel") {
    QpRow answer = row(17, QpState::rts, QpType::rc, 1, 0);
    answer.kern_name = "ib_ipoib";
    check.compare(user_qp(), answer);
  }
  SECTION("BPF says kernel, netlink says user") { check.compare(kernel_qp(), row(17)); }
  SECTION("another module") {
    QpRow answer = row(17, QpState::rts, QpType::rc, 1, 0);
    answer.kern_name = "ib_ipoib";
    check.compare(kernel_qp(), answer);
  }
  SECTION("after one that agreed") {
    check.compare(user_qp(), row(17));
    check.compare(user_qp(), row(17, QpState::rts, QpType::ud));
  }
  CHECK(check.verdict() == Verdict::mismatch);
  CHECK_FALSE(check.owners_verified());
  CHECK_THAT(check.reason(), Catch::Contains("QP 17"));
  const std::string reason = check.reason();
  check.compare(user_qp(), row(17));
  CHECK(check.verdict() == Verdict::mismatch);
  CHECK(check.reason() == reason);
}

TEST_CASE("queue pairs that netlink cannot speak of are not compared", "[daemon.self_check]") {
  SelfCheck check(true);
  QpRecord seeded = user_qp(), untracked = user_qp();
  seeded.from_bpf = false;
  untracked.tracked = false;
  check.compare(seeded, row(18));
  check.compare(untracked, row(18));
  CHECK(check.verdict() == Verdict::unverified);
}

TEST_CASE("absence counts only in a row, only as absence, and only before anything agreed", "[daemon.self_check]") {
  SelfCheck check(true);
  SECTION("eight in a row are a wrong layout") {
    for (int i = 0; i < 7; ++i) check.compare(user_qp(), absent());
    CHECK(check.verdict() == Verdict::unverified);
    check.compare(user_qp(), absent());
    CHECK(check.verdict() == Verdict::mismatch);
  }
  SECTION("one that is there starts the count again") {
    for (int i = 0; i < 7; ++i) check.compare(user_qp(), absent());
    check.compare(user_qp(), row(17));
    for (int i = 0; i < 20; ++i) check.compare(user_qp(), absent());
    CHECK(check.verdict() == Verdict::verified);
  }
  SECTION("other errors say nothing") {
    for (int i = 0; i < 50; ++i) check.compare(user_qp(), std::unexpected(io_error("get", EAGAIN)));
    CHECK(check.verdict() == Verdict::unverified);
  }
}
