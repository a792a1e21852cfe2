// SPDX-License-Identifier: Apache-2.0
// A host with one mlx5 device: its counter sets (fake_counter_kernel.h), its collectors and what binds its queue pairs, run by hand as the
// device's thread runs them, on a ledger that the state file keeps.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "collectors/registry.h"
#include "counter_sets.h"
#include "support/fake_clock.h"
#include "support/fake_counter_kernel.h"
#include "unit/collectors/host/temp_tree.h"

namespace qpscope::test {

class FakeOwnership : public Ownership {
 public:
  Verdict verdict;  // to every question
  std::vector<std::pair<BootTime, BootTime>> asked;
  Verdict sole_owner(const std::string&, PortNum, BootTime from, BootTime to) override {
    asked.emplace_back(from, to);
    return verdict;
  }
};

struct CounterMachine {
  static constexpr PortNum kPort{1};
  static constexpr const char* kDeviceName = "mlx5_0";

  TempTree tree;
  FakeClock clock;
  ClockFn now = clock.fn();
  FakeCounterKernel kernel{clock};
  Sysroot root = made(tree);
  Host host{.root = root, .live = false, .netlink = [this](const std::string&) { return kernel.line(); }, .queue_pairs = &kernel};
  CountersConfig config{.qp_mode = "tenant"};
  std::unique_ptr<CommandBudget> budget = std::make_unique<CommandBudget>(0);
  ReadErrors errors;
  CounterLedger ledger;
  std::set<PortNum> saved;  // ports that the state file calls ours
  bool saves = true;        // after each round
  std::unique_ptr<CounterSets> sets;
  std::unique_ptr<Collector> hw_counters, qp_statistics;
  SampleList samples;                   // of the last pass
  std::vector<QpCounters> qp_counters;  // the same

  static Sysroot made(const TempTree& tree) {
    const std::string device = "sys/class/infiniband/mlx5_0";
    tree.folder(device + "/ports/1");
    tree.folder(device + "/ports/2");
    tree.link(device + "/device/driver", "../mlx5_core");
    return Sysroot::open(tree.path()).value();
  }
  CounterMachine() = default;
  explicit CounterMachine(CountersConfig with) : config(std::move(with)) {}

  // The daemon's start, on what the state file says.
  void start(const LedgerImage& image = {}) {
    sets = std::make_unique<CounterSets>(host, kDeviceName, config, now);
    hw_counters = kHwCounters.make(host, kDeviceName);
    qp_statistics = kQpStatistics.make(host, kDeviceName);
    ledger = CounterLedger(image);
    saved = image.sets.managed;
  }
  void collect(const std::unique_ptr<Collector>& collector) {
    Reading reading{.samples = {}, .errors = errors, .ledger = ledger, .now = now};
    if (!collector->collect(reading)) return;
    samples.insert(samples.end(), reading.samples.begin(), reading.samples.end());
    qp_counters.insert(qp_counters.end(), reading.qp_counters.begin(), reading.qp_counters.end());
  }
  void read() {
    samples.clear();
    qp_counters.clear();
    collect(hw_counters);
    collect(qp_statistics);
  }
  bool act() {
    const bool more = sets->act(ledger, *budget, saved);
    if (saves) saved = ledger.image().sets.managed;
    return more;
  }
  // So much later, a round of everything.
  void pass(double seconds = 1) {
    if (!sets) start();
    clock.pass(seconds);
    read();
    for (int rounds = 0; act() && rounds < 1000; ++rounds) {
    }
  }
  void passes(int count, double seconds = 1) {
    for (int i = 0; i < count; ++i) pass(seconds);
  }
  // Counting has begun: the port is ours and the state file knows.
  void settle() { passes(3); }

  // Of a sample; -1: there is none. `labels`: the first ones behind the device and the port.
  double value(const std::string& family, const std::vector<std::string>& labels, const SampleList& in) const {
    for (const Sample& one : in) {
      if (one.def->name == family && labels.size() <= one.labels.size() && std::equal(labels.begin(), labels.end(), one.labels.begin())) return std::get<double>(one.value);
    }
    return -1;
  }
  std::string status(const std::string& port = "1") const {
    for (const Sample& one : sets->samples()) {
      if (one.def->name == "qpscope_counter_sets_status" && one.labels[1] == port) return std::string(one.labels[2]);
    }
    return "";
  }
  double rebinds() const { return value("qpscope_tenant_rebinds_total", {kDeviceName, "1"}, sets->samples()); }
  double focused() const { return value("qpscope_counter_sets_focused", {kDeviceName}, sets->samples()); }

  // By counter name, with sole ownership or by sets.
  std::uint64_t credited(const TenantKey& who, const std::string& counter = "out_of_sequence", CreditMethod method = CreditMethod::set) const {
    std::uint64_t out = 0;
    ledger.tenants().each("1", [&](const TenantKey& one, CreditMethod how, const PortCounter& name, std::uint64_t total) {
      if (one == who && how == method && name.name == counter) out += total;
    });
    return out;
  }
  std::uint64_t all_credited(const std::string& counter = "out_of_sequence") const { return ledger.tenants().credited("1", {"hw_counters", counter}); }
  std::optional<std::uint64_t> unattributed(const std::string& counter = "out_of_sequence") const {
    return ledger.tenants().unattributed("1", {"hw_counters", counter});
  }
  std::uint64_t port_total(const std::string& counter = "out_of_sequence") const {
    const auto last = ledger.last({"1", "hw_counters", counter});
    return last ? static_cast<std::uint64_t>(last->total) : 0;
  }
  // The set that a queue pair counts in; null: none.
  const CounterSet* set_of(QpSerial qp) const {
    const auto id = kernel.qp(qp).set;
    return id ? ledger.sets().find({kernel.qp(qp).port, {*id}}) : nullptr;
  }
  std::optional<TenantKey> counted_as(QpSerial qp) const {
    const CounterSet* set = set_of(qp);
    return set ? set->who : std::nullopt;
  }
  bool give_back() { return sets->give_back(ledger, *budget); }
};

}  // namespace qpscope::test
