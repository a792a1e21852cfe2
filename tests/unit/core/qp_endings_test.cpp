// SPDX-License-Identifier: Apache-2.0
#include "core/qp_endings.h"

#include <catch2/catch.hpp>

#include "support/fake_clock.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

using How = QpEnding::How;

BootTime at(double seconds) { return after(BootTime{kSecond}, seconds); }

QpRecord qp(std::uint32_t qpn, QpState state = QpState::rts, TenantId tenant = 0) {
  QpRecord out;
  out.qpn = {qpn};
  out.state = state;
  out.tenant = tenant;
  return out;
}

}  // namespace

TEST_CASE("queue pairs that were connected, in the order in which they ended", "[core.qp_endings]") {
  QpEndings endings;
  endings.add(How::found_in_error, qp(1), at(1));
  endings.add(How::destroyed, qp(2), at(2));
  endings.add(How::moved_to_error, qp(3, QpState::rtr), at(3));
  const auto all = endings.since(0);
  REQUIRE(all.endings.size() == 3);
  CHECK(all.endings[0].qp.qpn == Qpn{1});
  CHECK(all.endings[0].how == How::found_in_error);
  CHECK(all.endings[2].at == at(3));
  CHECK(to_string(all.endings[2].how) == "moved_to_error");
  CHECK(endings.since(all.endings[1].number).endings.size() == 1);
  CHECK(endings.since(all.newest).endings.empty());
}

TEST_CASE("an end is told once, and what was never connected has none", "[core.qp_endings]") {
  QpEndings endings;
  for (const QpState state : {QpState::reset, QpState::init, QpState::err}) endings.add(How::destroyed, qp(1, state), at(1));
  QpRecord gsi = qp(1);
  gsi.type = QpType::gsi;
  endings.add(How::destroyed, gsi, at(1));
  QpRecord unknown = qp(2);
  unknown.state.reset();
  endings.add(How::destroyed, unknown, at(1));
  CHECK(endings.since(0).endings.empty());
}

TEST_CASE("one tenant that churns does not push out who else ended", "[core.qp_endings]") {
  QpEndings endings;
  endings.add(How::destroyed, qp(1, QpState::rts, 7), at(0));
  for (std::uint32_t i = 0; i < 100'000; ++i) endings.add(How::destroyed, qp(i, QpState::rts, 1), at(i / 2000.0));
  endings.add(How::destroyed, qp(2, QpState::rts, 7), at(50));
  const auto all = endings.since(0);
  CHECK(all.endings.size() == QpEndings::kMostMinute + 2);
  CHECK(all.endings.front().qp.tenant == 7);
  CHECK(all.endings.back().qp.qpn == Qpn{2});
  CHECK(all.left_out == 100'000 - QpEndings::kMostMinute);
  // The minute is over.
  endings.add(How::destroyed, qp(3, QpState::rts, 1), at(60.1));
  CHECK(endings.since(all.newest).endings.size() == 1);
}

TEST_CASE("the oldest make room", "[core.qp_endings]") {
  QpEndings endings;
  for (std::uint32_t i = 0; i < QpEndings::kMost + 5; ++i) endings.add(How::destroyed, qp(i, QpState::rts, i), at(1));
  const auto all = endings.since(0);
  CHECK(all.endings.size() == QpEndings::kMost);
  CHECK(all.endings.front().qp.qpn == Qpn{5});
}
