// SPDX-License-Identifier: Apache-2.0
#include "core/tenant_ledger.h"

#include <catch2/catch.hpp>

using namespace qpscope;

namespace {

const PortCounter kSeq{"hw_counters", "packet_seq_err"}, kRnr{"hw_counters", "rnr_nak_retry_err"};
const TenantKey kA{"a", "1"}, kB{"b", "1"};

BootTime at(double seconds) { return {static_cast<std::uint64_t>(seconds * 1e9)}; }

std::map<TenantKey, std::uint64_t> totals(const TenantLedger& ledger, const std::string& port, const PortCounter& wanted = kSeq) {
  std::map<TenantKey, std::uint64_t> out;
  ledger.each(port, [&](const TenantKey& who, CreditMethod, const PortCounter& counter, std::uint64_t total) {
    if (counter == wanted) out[who] += total;
  });
  return out;
}

}  // namespace

TEST_CASE("tenants and the rest are the port", "[core.tenant_ledger]") {
  TenantLedger ledger;
  ledger.balance("1", kSeq, 100);
  CHECK(ledger.unattributed("1", kSeq) == 100);
  ledger.credit("1", kA, CreditMethod::set, kSeq, 7, at(1));
  ledger.credit("1", kB, CreditMethod::sole_owner, kSeq, 0, at(1));
  ledger.credit("2", kA, CreditMethod::set, kSeq, 50, at(1));
  ledger.balance("1", kSeq, 120);
  CHECK(totals(ledger, "1") == std::map<TenantKey, std::uint64_t>{{kA, 7}, {kB, 0}});
  CHECK(ledger.unattributed("1", kSeq) == 113);
  CHECK(ledger.credited("1", kSeq) == 7);
  CHECK_FALSE(ledger.unattributed("2", kSeq));
  CHECK(ledger.has_tenants("2"));
  CHECK_FALSE(ledger.has_tenants("3"));
}

TEST_CASE("the rest never falls, though a set was read later than its port", "[core.tenant_ledger]") {
  TenantLedger ledger;
  ledger.balance("1", kSeq, 100);
  ledger.credit("1", kA, CreditMethod::set, kSeq, 30, at(1));  // 20 of them after the port was read
  ledger.balance("1", kSeq, 110);
  CHECK(ledger.unattributed("1", kSeq) == 100);
  ledger.balance("1", kSeq, 25);  // less than the tenants have
  CHECK(ledger.unattributed("1", kSeq) == 100);
  ledger.balance("1", kSeq, 131);
  CHECK(ledger.unattributed("1", kSeq) == 101);
}

TEST_CASE("the longest unused account gives way to a newcomer, and what it had stays counted", "[core.tenant_ledger]") {
  TenantLedger ledger;
  for (std::size_t i = 0; i < TenantLedger::kMost; ++i) {
    ledger.credit("1", {"t", std::to_string(i)}, CreditMethod::set, kSeq, 1, at(static_cast<double>(i)));
  }
  ledger.credit("1", kA, CreditMethod::set, kSeq, 5, at(300));
  CHECK(totals(ledger, "1").at(kOtherTenants) == 5);
  CHECK_FALSE(totals(ledger, "1").contains(kA));
  ledger.credit("1", kA, CreditMethod::set, kSeq, 9, at(TenantLedger::kKeepSeconds));
  const auto now = totals(ledger, "1");
  CHECK(now.at(kA) == 9);
  CHECK(now.at(kOtherTenants) == 5);
  CHECK(now.at(kEndedTenants) == 1);
  CHECK_FALSE(now.contains({"t", "0"}));
  CHECK(now.contains({"t", "1"}));
  CHECK(now.size() == TenantLedger::kMost + 2);  // with ended/ended and other/other
  CHECK(ledger.credited("1", kSeq) == TenantLedger::kMost + 14);
  // Another port and another method have room of their own.
  ledger.credit("2", kB, CreditMethod::set, kSeq, 1, at(0));
  ledger.credit("1", kB, CreditMethod::sole_owner, kSeq, 1, at(0));
  CHECK(totals(ledger, "2").contains(kB));
  CHECK(totals(ledger, "1").contains(kB));
}

TEST_CASE("what a tenant had stays counted when it has long ended", "[core.tenant_ledger]") {
  TenantLedger ledger;
  ledger.credit("1", kA, CreditMethod::set, kSeq, 7, at(0));
  ledger.credit("1", kOtherTenants, CreditMethod::set, kSeq, 2, at(0));
  ledger.credit("1", kB, CreditMethod::set, kSeq, 1, at(10));
  ledger.take_changed();
  ledger.expire(at(TenantLedger::kEndedSeconds - 1));
  CHECK_FALSE(ledger.take_changed());
  ledger.expire(at(TenantLedger::kEndedSeconds + 1));
  CHECK(ledger.take_changed());
  CHECK(totals(ledger, "1") == std::map<TenantKey, std::uint64_t>{{kEndedTenants, 7}, {kOtherTenants, 2}, {kB, 1}});
  CHECK(ledger.credited("1", kSeq) == 10);
  ledger.credit("1", kA, CreditMethod::set, kSeq, 3, at(TenantLedger::kEndedSeconds + 2));
  ledger.expire(at(3 * TenantLedger::kEndedSeconds));
  CHECK(totals(ledger, "1") == std::map<TenantKey, std::uint64_t>{{kEndedTenants, 11}, {kOtherTenants, 2}});
}

TEST_CASE("an image goes on", "[core.tenant_ledger]") {
  TenantLedger ledger;
  ledger.credit("1", kA, CreditMethod::set, kSeq, 7, at(1));
  ledger.credit("1", kA, CreditMethod::sole_owner, kRnr, 3, at(2));
  ledger.balance("1", kSeq, 20);
  CHECK(ledger.take_changed());
  CHECK_FALSE(ledger.take_changed());
  TenantLedger next(ledger.image());
  CHECK(next.image() == ledger.image());
  next.credit("1", kA, CreditMethod::set, kSeq, 1, at(3));
  next.balance("1", kSeq, 30);
  CHECK(totals(next, "1").at(kA) == 8);
  CHECK(next.unattributed("1", kSeq) == 22);
  CHECK(next.credited("1", kRnr) == 3);
}
