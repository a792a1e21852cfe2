// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenant_counters.h"

#include <catch2/catch.hpp>
#include <map>

#include "support/fake_clock.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

using Samples = std::map<std::string, double>;  // by family and labels

Samples shown(CounterLedger& ledger, std::string_view driver) {
  FakeClock clock;
  ReadErrors errors;
  const ClockFn now = clock.fn();
  Reading reading{.samples = {}, .errors = errors, .ledger = ledger, .now = now};
  add_tenant_counters(reading, driver, "d", "1");
  Samples out;
  for (const Sample& one : reading.samples) {
    std::string key(one.def->name);
    for (const std::string_view label : one.labels) key += " " + std::string(label);
    CHECK(out.emplace(key, std::get<double>(one.value)).second);
  }
  return out;
}

}  // namespace

TEST_CASE("a tenant's share of counters that make one series is one series", "[collectors.tenant_counters]") {
  CounterLedger ledger;
  const TenantKey who{"ml", "trainer"};
  const auto credit = [&](const char* source, const char* counter, std::uint64_t events) {
    ledger.tenants().credit("1", who, CreditMethod::sole_owner, {source, counter}, events, BootTime{1});
  };
  credit("hw_counters", "ip4InOctets", 100);
  credit("hw_counters", "ip6InOctets", 7);
  credit("hw_counters", "cnpSent", 3);
  CHECK(shown(ledger, "ice") ==
        Samples{{"qpscope_tenant_rx_bytes_total ml trainer d 1 sole_owner", 107}, {"qpscope_tenant_tx_cnp_packets_total ml trainer d 1 sole_owner", 3}});
}

TEST_CASE("what a card shows in two places is credited once", "[collectors.tenant_counters]") {
  CounterLedger ledger;
  for (const PortCounter& counter : {PortCounter{"hw_counters", "tx_bytes"}, PortCounter{"counters", "port_xmit_data"}}) {
    ledger.tenants().credit("1", {"ml", "trainer"}, CreditMethod::sole_owner, counter, 8, BootTime{1});
  }
  CHECK(shown(ledger, "bnxt_en") == Samples{{"qpscope_tenant_tx_bytes_total ml trainer d 1 sole_owner", 8}});
}
